/** A message of the service as a sentence of its own. */
export function sentence(text: string): string {
  const first = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
