/** A scope as a person reads it: where the deployment has not said what its scopes begin with, that part is left out. */
export function scopeWords(scope: string): string {
  return scope.replace(/^\{scope_base\}\/?/, "");
}

/** A message of the service as a sentence of its own. */
export function sentence(text: string): string {
  const first = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

/**
 * What shows nothing, or changes the order in which its neighbours are read. Joiners and variation selectors, which scripts and emoji need,
 * are none of them.
 */
export const deceiving: RegExp =
  /(?!\u200c|\u200d|\p{Variation_Selector})[\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\ufff9-\ufffb]|[^\P{Cc}\t\n\r]/gu;

/**
 * A text of others as a person may trust it: characters that nobody sees, and those that turn the ones around them, stand there by their
 * names. `Pay 0001` between two of them reads `Pay 1000`, and somebody would approve that.
 */
export function visible(text: string): string {
  return text.replace(deceiving, (character) => characterName(character.codePointAt(0) ?? 0));
}

/** How a character that shows nothing is named. */
export function characterName(code: number): string {
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
