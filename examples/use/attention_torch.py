#!/usr/bin/env python3
"""A ported attention as a PyTorch operator, opsight::attention, which torch.compile takes as it is.

  attention_torch.py ARTIFACT      ARTIFACT: the folder artifact/ that `opsight port` left

Tensors go over by DLPack, so nothing is copied; any library that speaks DLPack can be served the same way. The port's launch
is read from manifest.json, its code from the shared library beside it."""
import concurrent.futures
import ctypes
import json
import math
import os
import pathlib
import sys

import torch
import torch.utils.dlpack


class DLTensor(ctypes.Structure):
    """The beginning of a DLManagedTensor (dlpack.h)."""
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class Launch(ctypes.Structure):
    """struct opsight_launch of the artifact's header."""
    _fields_ = [("grid", ctypes.c_uint32 * 3), ("block", ctypes.c_uint32 * 3),
                ("arguments", ctypes.POINTER(ctypes.c_void_p)), ("dynamic_shared_bytes", ctypes.c_uint64),
                ("order", ctypes.c_uint64), ("resident_stride", ctypes.c_uint64), ("meet", ctypes.c_void_p),
                ("meeting", ctypes.c_void_p)]


pointer_of_capsule = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of_capsule.restype, pointer_of_capsule.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def address(tensor):
    """Where a float tensor lies, row by row without gaps, as DLPack says it."""
    capsule = torch.utils.dlpack.to_dlpack(tensor)
    seen = DLTensor.from_address(pointer_of_capsule(capsule, b"dltensor"))
    cpu, floating = 1, 2
    if (seen.device_type, seen.code, seen.bits) != (cpu, floating, 32):
        raise TypeError("this port computes in float on the processor: no other tensor is taken")
    step = 1
    for dim in reversed(range(seen.ndim)):
        if seen.strides and seen.shape[dim] > 1 and seen.strides[dim] != step:
            raise ValueError("this port reads dense tensors: call contiguous() first")
        step *= seen.shape[dim]
    return seen.data + seen.byte_offset


class Port:
    """The shared library of one port, and how it is launched."""

    def __init__(self, folder):
        folder = pathlib.Path(folder).resolve()
        self.manifest = json.loads((folder / "manifest.json").read_text())
        self.entry = getattr(ctypes.CDLL(str(folder / f"lib{self.manifest['entry']}.so")), self.manifest["entry"])
        self.entry.restype = None
        self.entry.argtypes = [ctypes.POINTER(Launch), ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p]
        self.cores = os.cpu_count() or 1
        self.team = concurrent.futures.ThreadPoolExecutor(self.cores)
        self.built_for = self.manifest["built_for"]

    def extent(self, expression, symbols):
        """A launch expression of the manifest: integers over the operator's symbols."""
        functions = {"ceil_div": lambda a, b: -(-a // b), "min": min, "max": max}
        return int(eval(expression.replace("/", "//"), {"__builtins__": {}}, {**functions, **symbols}))

    def __call__(self, values, symbols):
        """`values`: what each parameter receives, by name: an address, or a ctypes number."""
        held = [ctypes.c_void_p(v) if isinstance(v, int) else v
                for v in (values[p["name"]] for p in self.manifest["parameters"])]
        arguments = (ctypes.c_void_p * len(held))(*[ctypes.addressof(v) for v in held])
        launch = Launch(arguments=arguments)
        for side, texts in ((launch.grid, self.manifest["launch"]["grid"]), (launch.block, self.manifest["launch"]["block"])):
            for axis in range(3):
                side[axis] = self.extent(texts[axis], symbols) if axis < len(texts) else 1
        launch.dynamic_shared_bytes = shared = self.extent(self.manifest["launch"]["shared"], symbols)
        blocks = launch.grid[0] * launch.grid[1] * launch.grid[2]

        def share(t):
            memory = ctypes.create_string_buffer(shared + 64)
            start = -(-ctypes.addressof(memory) // 64) * 64
            self.entry(launch, blocks * t // self.cores, blocks * (t + 1) // self.cores, start)

        list(self.team.map(share, range(self.cores)))  # ctypes lets the other threads run meanwhile


port = None


@torch.library.custom_op("opsight::attention", mutates_args=())
def attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, is_causal: bool = False) -> torch.Tensor:
    """softmax(query keyᵀ / sqrt(D)) value for (B, H, L, D), (B, Hkv, S, D), (B, Hkv, S, Dv)."""
    (B, H, L, D), (_, Hkv, S, Dv) = query.shape, value.shape
    if (D, Dv) != (port.built_for["D"], port.built_for["Dv"]):
        raise ValueError(f"this port is built for D = {port.built_for['D']}, Dv = {port.built_for['Dv']}")
    output, lse = query.new_empty(B, H, L, Dv), query.new_empty(B, H, L)
    symbols = {"B": B, "H": H, "Hkv": Hkv, "L": L, "S": S, "D": D, "Dv": Dv}
    values = {name: ctypes.c_int32(number) for name, number in symbols.items()}
    values |= {"causal": ctypes.c_int32(is_causal), "scale": ctypes.c_float(1 / math.sqrt(D))}
    values |= {name: address(t) for name, t in
               {"query": query, "key": key, "value": value, "output": output, "lse": lse}.items()}
    port(values, symbols)
    return output


@attention.register_fake
def _(query, key, value, is_causal=False):
    return query.new_empty(*query.shape[:3], value.shape[3])


def main(folder):
    global port
    port = Port(folder)
    torch.manual_seed(1)
    B, H, Hkv, L, S, D = 2, 8, 2, 300, 333, port.built_for["D"]
    query, key, value = torch.randn(B, H, L, D), torch.randn(B, Hkv, S, D), torch.randn(B, Hkv, S, D)

    def layer(query, key, value):
        return torch.ops.opsight.attention(torch.sin(query), key, value, True) * 2

    wide = [torch.sin(query).double(), *(t.double().repeat_interleave(H // Hkv, dim=1) for t in (key, value))]
    want = torch.nn.functional.scaled_dot_product_attention(*wide, is_causal=True) * 2
    torch.library.opcheck(torch.ops.opsight.attention.default, (query, key, value), test_utils=("test_schema", "test_faketensor"))
    for name, function in (("eager", layer), ("torch.compile", torch.compile(layer, fullgraph=True))):
        error = ((function(query, key, value) - want).abs() / want.abs().clamp(min=1)).max().item()
        print(f"{name}: largest error {error:.2g} against double precision")
        if not error < 4e-6:
            sys.exit(1)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
