#!/bin/sh
# mtail 3.0.0-rc50 of Debian 12 (on the PATH; no package is installed): a histogram with `buckets 1, 5, 17`.
# Guess: three upper bounds and +Inf, as everywhere with Prometheus: a 0 is in le="1" and in all others.
# Behaviour: the first number is a lower bound. A 0 is in the count and in no bucket, so that le="+Inf" is smaller than
#   `_count`, which no reader of the format expects: shares of "faster than" come out too small. Begin with `buckets 0, …`.
# Seen: 0, 0, 1, 5, 100 have le="1" 1, le="5" 2, le="+Inf" 3, and a count of 5.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

cat > times.mtail <<'EOF'
histogram ms buckets 1, 5, 17
/"durationMs":(?P<ms>\d+)/ {
  ms = $ms
}
EOF
for ms in 0 0 1 5 100; do echo "{\"durationMs\":$ms}"; done > log
mtail --one_shot --one_shot_format=prometheus --progs times.mtail --logs "$dir/log" --log_dir "$dir" > seen 2> log.mtail
sed -n 's/{.*\(le="[^"]*"\)}/ \1/p; s/{.*}//p' seen | grep '^ms' | sort -u
grep -q 'le="+Inf"} 3$' seen
grep -q '^ms_count{.*} 5$' seen
grep -q 'le="1"} 1$' seen
