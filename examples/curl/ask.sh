# Sourced by the examples.

headers=$(mktemp)
body=$(mktemp)
trap 'rm -f "$headers" "$body"' EXIT

# The value of a header of the last response, if it has one.
header() { tr -d '\r' <"$headers" | awk -F ': ' -v name="$1" 'tolower($1) == name { print $2 }'; }

# A member of a JSON object: field "$swap" status
field() { node -p 'JSON.parse(process.argv[1])[process.argv[2]]' "$1" "$2"; }

# Sends a request with the arguments of curl, and prints the body of a 2xx. What may pass is asked again, for two minutes: only for reads, and for
# creates with an Idempotency-Key, which are one swap however often they are sent. Everything else is an error: 1, or 2 if a swap may have been
# created, also by an earlier try.
ask() {
  local status result pause latest=$((SECONDS + 120)) may_exist=
  while :; do
    result=0
    : >"$headers" >"$body"
    status=$(curl --silent --show-error --max-time 30 --dump-header "$headers" --output "$body" --write-out '%{http_code}' "$@") || result=$?
    case $result:$status:$(header x-swap-reason) in
      0:2*) cat "$body" && echo && return ;;
      6:* | 7:*) ;; # no connection: nothing was sent
      0:*:mismatch) break ;;
      0:*:needs_person) may_exist=yes && break ;;
      0:429:* | 0:*:too_slow | 0:*:provider_failed | 0:*:provider_busy | 0:*:overloaded | 0:*:ledger_unavailable | 0:*:stopping) ;;
      0:409:* | 0:408: | 0:42[345]: | 0:499: | 0:5*) may_exist=yes ;;
      0:*) break ;;
      *) may_exist=yes ;; # the connection broke: anything may have been sent
    esac
    pause=$(header retry-after | grep -E '^[1-9][0-9]{0,5}$' || echo 2)
    ((SECONDS + pause < latest)) || break
    sleep "$pause"
  done
  echo "$status $(header x-swap-reason): $(cat "$body")" >&2
  [[ $may_exist && $* == *Idempotency-Key* ]] || return 1
  echo 'The swap may have been created: ask again with the same Idempotency-Key.' >&2
  return 2
}

# Prints each status that is new, until the swap has ended or needs a person; for an hour at most. The arguments are those of the get.
wait_for_the_end() {
  local swap status pause shown='' latest=$((SECONDS + 3600))
  while swap=$(ask "$@"); do
    status=$(field "$swap" status)
    [[ $status == "$shown" ]] || echo "$status"
    shown=$status
    [[ $status =~ ^(success|overdue|refunded)$ ]] && return
    [[ $(header x-swap-attention) ]] && echo "A person has to look: $(header x-swap-attention)" >&2 && return 1
    pause=$(header x-swap-poll-after | grep -E '^[1-9][0-9]{0,5}$' || echo 5)
    ((SECONDS + pause < latest)) || break
    sleep "$pause"
  done
  return 1
}
