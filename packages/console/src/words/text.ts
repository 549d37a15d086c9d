/** Returns a scope for display. If the deployment has not declared a prefix for its scopes, the placeholder of the prefix is removed. */
export function scopeWords(scope: string): string {
  return scope.replace(/^\{scope_base\}\/?/, "");
}

/** Returns a message of the service as a sentence. */
export function sentence(text: string): string {
  const first = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

/**
 * Characters that are invisible, or change the reading order of the text around them. Joiners and variation selectors are not included,
 * because scripts and emoji need them.
 */
export const deceiving: RegExp =
  /(?!\u200c|\u200d|\p{Variation_Selector})[\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\ufff9-\ufffb]|[^\P{Cc}\t\n\r]/gu;

/**
 * Returns an untrusted text in a form that cannot deceive: invisible characters, and those that reverse text, are replaced by their names.
 * Between two of these `Pay 0001` reads as `Pay 1000`, and a person would approve that.
 */
export function visible(text: string): string {
  return text.replace(deceiving, (character) => characterName(character.codePointAt(0) ?? 0));
}

/** Returns the name of an invisible character. */
export function characterName(code: number): string {
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
