#!/usr/bin/env bash
# Installs the servers that npm does not ship, for the tests: pgbouncer, redis-server, etcd, and
# python3-psycopg when named. Usage: scripts/install-servers.sh [name ...]
#
# Needs root on Debian or Ubuntu and asks nothing; elsewhere it says what to do and exits with 1.
# What is there already stays as it is. No service is started, stopped or enabled by it.
set -euo pipefail

wanted=("$@")
if [ ${#wanted[@]} -eq 0 ]; then wanted=(pgbouncer redis-server etcd); fi

package_of() {
  case "$1" in
    pgbouncer | redis-server | python3-psycopg) echo "$1" ;;
    etcd) echo etcd-server ;;
    *)
      echo "install-servers: there is no server \"$1\"; known are pgbouncer, redis-server, etcd, python3-psycopg." >&2
      exit 1
      ;;
  esac
}

is_there() {
  case "$1" in
    python3-psycopg) /usr/bin/python3 -c 'import psycopg' 2>/dev/null ;;
    *) PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin" command -v "$1" >/dev/null ;;
  esac
}

missing_packages() {
  packages=()
  for name in "${wanted[@]}"; do
    package=$(package_of "$name")
    is_there "$name" || packages+=("$package")
  done
}

say_how() {
  echo "Missing: ${packages[*]}. $1" >&2
  echo "Install them with your package manager, or run them in containers:" >&2
  echo "  docker compose up -d" >&2
}

missing_packages
if [ ${#packages[@]} -eq 0 ]; then exit 0; fi
if ! command -v apt-get >/dev/null; then
  say_how "This is not Debian or Ubuntu."
  exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
  say_how "Installing them needs root."
  exit 1
fi

# Two test processes may need the same server at once. The second finds everything done.
lock=/run/lock/sole-writer-install-servers
exec 9>"$lock"
flock 9
missing_packages
if [ ${#packages[@]} -eq 0 ]; then exit 0; fi

log=$(mktemp)
policy=/usr/sbin/policy-rc.d
made_policy=no
clean_up() {
  rm -f "$log"
  if [ "$made_policy" = yes ]; then rm -f "$policy"; fi
}
trap clean_up EXIT

# Debian's packages start their service; this is the switch against it. A machine's own one stays.
if [ ! -e "$policy" ]; then
  made_policy=yes
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
fi

install() {
  DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=l apt-get install -y -q \
    --no-install-recommends --no-remove --no-upgrade -o DPkg::Lock::Timeout=120 "${packages[@]}" \
    >>"$log" 2>&1 9>&-
}

echo "Installing ${packages[*]} ..."
# The lists of packages are fetched only when the ones there do not do.
if ! install && ! { apt-get update -q >>"$log" 2>&1 9>&- && install; }; then
  cat "$log" >&2
  say_how "apt-get failed, see above."
  exit 1
fi

# Not started now, and not at the next boot either.
if [ -d /run/systemd/system ]; then
  for package in "${packages[@]}"; do
    service=${package%-psycopg}
    if [ "$package" = etcd-server ]; then service=etcd; fi
    systemctl disable -q "$service" >/dev/null 2>&1 || true
  done
fi
