#!/bin/bash
# Proves the two commands of the front door in a bare Debian 12: debootstrap, a fresh clone of HEAD, and nothing else.
# Where packages come from is taken from the running system (its Debian sources, apt's Acquire settings, pip's settings,
# certificates); no host is named here. Needs root, debootstrap and about 6 GB; not part of ./check.
#
#   tools/prove-fresh-machine.sh FOLDER          the base system (kept and reused), then everything below
#   tools/prove-fresh-machine.sh FOLDER base     only the base system
#   tools/prove-fresh-machine.sh FOLDER run CMD  one command in the clone
set -euo pipefail
root=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/..
folder=$(realpath -m -- "${1:?"usage: tools/prove-fresh-machine.sh FOLDER [base | run CMD]"}")
what=${2:-all}
base="$folder/base"       # the bare system, never changed after debootstrap
machine="$folder/machine" # its copy, with the clone in /root/opsight

sources() {
  apt-get indextargets --format 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(REPO_URI) $(CODENAME) $(COMPONENT)#$(ORIGIN)' \
    'Created-By: Packages' 'Identifier: Packages' 2>/dev/null | sed -n 's/#Debian$//p' | sort -u
}

make_base() {
  [[ -e $base/.complete ]] && return
  local mirror
  mirror=$(sources | awk '$4 == "bookworm" {print $3; exit}')
  [[ -n $mirror ]] || { echo "no Debian 12 source in this system's apt lists; run apt-get update" >&2; exit 2; }
  rm -rf "$base"
  mkdir -p "$folder"
  debootstrap --variant=minbase bookworm "$base" "$mirror" >"$folder/debootstrap.log" 2>&1 || { tail "$folder/debootstrap.log" >&2; exit 1; }
  sources >"$base/etc/apt/sources.list"
  apt-config dump | grep -E '^Acquire::(Check|http|https|Retries|Languages|GzipIndexes)' >"$base/etc/apt/apt.conf.d/99-as-outside" || true
  touch "$base/.complete"
}

# pip's settings and the certificates it is told to use, so that ./check can fetch Intel's driver as this system can.
copy_network_settings() {
  local file
  cp --dereference /etc/resolv.conf /etc/hosts "$machine/etc/"
  for file in /etc/pip.conf ~/.config/pip/pip.conf ~/.pip/pip.conf "${PIP_CERT:-}" "${SSL_CERT_FILE:-}"; do
    [[ -f $file ]] || continue
    mkdir -p "$machine$(dirname "$file")"
    cp --dereference "$file" "$machine$file"
  done
}

make_machine() {
  rm -rf "$machine"
  cp -a --reflink=auto "$base" "$machine"
  copy_network_settings
  git clone --quiet --no-hardlinks "$root" "$machine/root/opsight"
}

# Runs "$1" in the clone, in namespaces of its own: nothing it starts or mounts outlives it.
inside() {
  local passed
  passed=$(env | grep -E '^(PIP_CERT|PIP_DEFAULT_TIMEOUT|PIP_INDEX_URL|PIP_EXTRA_INDEX_URL|SSL_CERT_FILE|[a-z]+_proxy|[A-Z]+_PROXY)=' || true)
  unshare --mount --pid --fork --kill-child bash -c '
    machine=$1 command=$2; shift 2
    mount --types proc proc "$machine/proc"
    mount --types sysfs -o ro sysfs "$machine/sys"
    mount --types tmpfs tmpfs "$machine/dev"
    mkdir "$machine/dev/shm" "$machine/dev/pts" && chmod 1777 "$machine/dev/shm"
    mknod -m 666 "$machine/dev/null" c 1 3; mknod -m 666 "$machine/dev/zero" c 1 5
    mknod -m 666 "$machine/dev/random" c 1 8; mknod -m 666 "$machine/dev/urandom" c 1 9; mknod -m 666 "$machine/dev/tty" c 5 0
    ln -s /proc/self/fd "$machine/dev/fd"; ln -s /proc/self/fd/0 "$machine/dev/stdin"
    ln -s /proc/self/fd/1 "$machine/dev/stdout"; ln -s /proc/self/fd/2 "$machine/dev/stderr"
    exec env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@" \
      chroot "$machine" bash -c "cd /root/opsight && $command"
  ' inside "$machine" "$1" $passed
}

timed() {
  local start=$SECONDS status=0
  echo "== $1"
  inside "$1" || status=$?
  echo "== exit code $status after $((SECONDS - start)) s: $1"
  return $status
}

make_base
[[ $what == base ]] && exit
if [[ $what == run ]]; then
  [[ -d $machine/root/opsight ]] || make_machine
  timed "${3:?"run needs a command"}"
  exit
fi
make_machine
# As a user without root and without sudo: the command to run, and code 2.
timed 'useradd -m guest && cp -a /root/opsight /home/guest/ && chown -R guest /home/guest && su guest -c "cd ~/opsight && ./opsight --version"; test $? = 2 && rm -rf /home/guest'
timed './opsight port examples/sdpa/port.toml'
timed './opsight --version'
timed './check'
