#compdef svc
# Completion of svc for zsh. Load it with: source <(svc completion zsh)
_svc_words() {
  case $1 in
#words
  *) return 1 ;;
  esac
}

_svc() {
  local current=${words[CURRENT]} last=${words[CURRENT - 1]} at=svc word found i
  if [[ $current == --*=* ]]; then
    last=${current%%=*}
    compset -P '*='
  fi
  for ((i = 2; i < CURRENT; i++)); do
    word=${words[i]}
    _svc_words "$at $word" >/dev/null || continue
    if [[ $word == -* ]]; then i=$((i + 1)); else at="$at $word"; fi
  done
  if [[ $last != -* ]] || ! found=$(_svc_words "$at $last"); then
    found=" $(_svc_words "$at")"
    # The options follow the other words. They are offered only after a dash.
    if [[ $current != -* ]]; then found=${found%% -*}; fi
  fi
  if [[ -n ${found// /} ]]; then compadd -- ${=found}; else _files; fi
}
if [[ ${zsh_eval_context[-1]} == loadautofunc ]]; then _svc "$@"; else compdef _svc svc; fi
