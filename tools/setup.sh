# What ./opsight and ./check share: the system packages that are missing, the build and its progress, and the stamp
# that lets a start with nothing to do answer at once. Sourced, never run. Everything said here goes to standard error:
# standard output belongs to the tool.
#
# The caller sets `root` (this repository). Exit codes are those of the tool: 2 where the user has to act, 70 for a
# fault of ours.

say() { printf 'opsight: %s\n' "$*" >&2; }

# A line that the next one overwrites on a terminal and that stays elsewhere.
progress() {
  if [[ -t 2 ]]; then printf '\r\033[K%s' "$*" >&2; else printf '%s\n' "$*" >&2; fi
}
progress_end() { if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi; }

# The packages of packages.txt; with "test" also those that only ./check needs.
required_packages() {
  local name kind
  while read -r name kind; do
    [[ -z $name || $name == '#'* ]] && continue
    [[ $kind == test && ${1:-} != test ]] && continue
    printf '%s\n' "$name"
  done <"$root/packages.txt"
}

missing_packages() {
  local wanted installed
  wanted=$(required_packages "${1:-}")
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' $wanted 2>/dev/null | sed -n 's/^installed //p')
  comm -23 <(sort <<<"$wanted") <(sort <<<"$installed")
}

# Turns apt-get's output into one moving line; everything goes to the log.
show_apt() {
  local line total=0 got=0 unpacked=0 done=0
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$setup_log"
    case $line in
      *' newly installed,'*) total=${line#*upgraded, }; total=${total%% *} ;;
      Get:*) got=$((got + 1)); ((got % 20)) || progress "packages: $got fetched" ;;
      'Unpacking '*) unpacked=$((unpacked + 1)); ((unpacked % 20)) || progress "packages: $unpacked/$total unpacked" ;;
      'Setting up '*) done=$((done + 1)); ((done % 20)) || progress "packages: $done/$total set up" ;;
    esac
  done
  progress_end
}

# install_packages [test]: says which packages are missing and installs them, or says how and stops with 2.
install_packages() {
  local missing as_root=() command
  command -v dpkg-query >/dev/null || { say "this is no Debian system; Opsight needs the packages of $root/packages.txt"; exit 2; }
  missing=$(missing_packages "${1:-}" | paste -sd' ')
  [[ -z $missing ]] && return 0
  command="apt-get update && apt-get install --yes --no-install-recommends $missing"
  if ((EUID != 0)); then
    if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [[ -t 0 && -t 2 ]]; }; then
      as_root=(sudo)
    else
      say "these Debian packages are missing and installing them needs root: $missing"
      say "run this as root, then try again:"
      printf '  %s\n' "$command" >&2
      exit 2
    fi
  fi
  say "installing the Debian packages that are missing: $missing"
  apt_get() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -q -o DPkg::Lock::Timeout=300 "$@" 2>&1 </dev/null 9>&- | show_apt
  }
  # An installation that was cut off earlier blocks every later one until it is finished.
  if compgen -G '/var/lib/dpkg/updates/*' >/dev/null; then "${as_root[@]}" dpkg --configure -a >>"$setup_log" 2>&1 </dev/null; fi
  if ! apt_get update || ! apt_get install --yes --no-install-recommends $missing || [[ -n $(missing_packages "${1:-}") ]]; then
    grep -E '^(E|W|Err):' "$setup_log" | tail -n 8 >&2
    say "the packages could not be installed (the log is $setup_log); Opsight needs Debian 12 with its security updates"
    say "run this as root, then try again:"
    printf '  %s\n' "$command" >&2
    exit 2
  fi
}

# As many compilers as there are cores, but no more than memory carries: a file on LLVM's headers takes 1.2 GB.
build_jobs() {
  local cores available
  cores=$(nproc)
  available=$(awk '/^MemAvailable/ {print int($2 / 1200000)}' /proc/meminfo)
  ((available < 1)) && available=1
  printf '%d' $((cores < available ? cores : available))
}

# Off a terminal one line for each tenth of the build, and a failure's own lines whole.
show_ninja() {
  local line finished total tenth=-1 failing=
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$setup_log"
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then
      failing=
      finished=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
      ((finished > 0 && finished * 10 / total > tenth)) && { tenth=$((finished * 10 / total)); printf 'building: %s of %s\n' "$finished" "$total" >&2; }
    fi
    [[ $line == FAILED:* || $line == *'CMake Error'* || $line == 'ninja: error'* ]] && failing=1
    [[ -n $failing ]] && printf '%s\n' "$line" >&2
  done
}

# configure PRESET cmake-option...: afresh where an earlier build is broken or the clone has been moved.
configure() {
  local preset=$1 cache="$root/build/$1/CMakeCache.txt"
  shift
  [[ -f $cache ]] || say "building Opsight, once; a later start answers at once"
  if [[ -f $cache ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache"; then rm -rf "${root:?}/build/$preset"; fi
  run_cmake() { (cd "$root" && cmake "$@") >>"$setup_log" 2>&1 9>&-; }
  run_cmake --preset "$preset" "$@" && return
  run_cmake --fresh --preset "$preset" "$@" && return
  tail -n 30 "$setup_log" >&2
  say "the build could not be configured; the log is $setup_log"
  exit 70
}

# build PRESET target...
build() {
  local preset=$1 command status
  shift
  command=(ninja -C "$root/build/$preset" -j "$(build_jobs)" "$@")
  if [[ -t 2 ]]; then
    NINJA_STATUS='building: [%f/%t] %es ' "${command[@]}" >&2 9>&-
    status=$?
  else
    NINJA_STATUS='[%f/%t] ' "${command[@]}" 2>&1 9>&- | show_ninja
    status=${PIPESTATUS[0]}
  fi
  ((status == 0)) && return
  say "the build failed"
  exit 70
}

# One set-up at a time in this clone; a second start waits for the first. Held until the process ends or execs.
lock_build() {
  mkdir -p "$root/build" || { say "this clone cannot be written by you: build it as its owner"; exit 2; }
  setup_log="$root/build/setup.log"
  exec 9>"$root/build/.lock" || { say "$root/build cannot be written"; exit 2; }
  flock -n 9 || { say "waiting for another build in $root"; flock 9; }
  : >"$setup_log"
  if [[ -z ${HOME:-} || ! -w ${HOME:-} ]]; then export CCACHE_DIR="$root/build/ccache"; fi
  # Ctrl-C reaches the compilers through the terminal; without this the shell would go on to the next step.
  trap 'progress_end; say "stopped"; exit 130' INT
  trap 'exit 143' TERM
}

# What the build depends on, as one word: names, sizes and times of the sources and of Debian's list of packages.
fingerprint() {
  find "$root"/{src,cmake,include,kernels,CMakeLists.txt,CMakePresets.json,packages.txt,tools/setup.sh} \
    /var/lib/dpkg/status -printf '%p %s %T@\n' 2>/dev/null | md5sum
}

# is_fresh: nothing changed since the build that left the stamp.
is_fresh() {
  local stamp="$root/build/release/.stamp" seen=
  [[ -r $stamp && -x $root/build/release/bin/opsight && -x $root/build/release/bin/opsight-worker ]] || return 1
  IFS= read -r seen <"$stamp"
  [[ $seen == "$(fingerprint)" ]]
}
