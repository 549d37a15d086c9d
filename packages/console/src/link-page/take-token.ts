/**
 * Takes the token of a link out of the address (`#<token>`) and of the history, so that no copy, picture or extension finds it there later.
 * Undefined where the address has none.
 */
export function takeToken(): string | undefined {
  const token = /^#([\w-]{20,100})$/.exec(location.hash)?.[1];
  if (location.hash !== "") history.replaceState(history.state, "", location.pathname);
  return token;
}
