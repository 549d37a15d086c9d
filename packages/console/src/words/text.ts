/**
 * Returns an OAuth scope for display, without the placeholder `{scope_base}`. The placeholder is replaced by a prefix that the operator
 * declares; without a declared prefix it is still in the scope.
 */
export function scopeWords(scope: string): string {
  return scope.replace(/^\{scope_base\}\/?/, "");
}

/**
 * Returns a message of the service as a sentence: with a capital first letter, and with a full stop if the message has no final
 * punctuation.
 */
export function sentence(text: string): string {
  const first = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

/**
 * Matches characters that are invisible, or that change the reading order of the text around them. It does not match joiners and variation
 * selectors, because scripts and emoji need them.
 */
export const deceiving: RegExp =
  /(?!\u200c|\u200d|\p{Variation_Selector})[\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\ufff9-\ufffb]|[^\P{Cc}\t\n\r]/gu;

/**
 * Returns an untrusted text in a form that cannot deceive the reader. Invisible characters and characters that reverse text are replaced by
 * their codes, such as `⟨U+200B⟩`.
 */
export function visible(text: string): string {
  return text.replace(deceiving, (character) => characterName(character.codePointAt(0) ?? 0));
}

/** Returns the text that the console shows in place of an invisible character, such as `⟨U+200B⟩`. `code`: the character's code point. */
export function characterName(code: number): string {
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
