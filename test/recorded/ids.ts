/** A text without the ids of what a run makes on its way; those of its job, its project and its key are the recording's own. */
export function withoutIds(text: string): string {
  return text.replaceAll(/\b(ask|apr|call|evt|dlv)_[0-9a-z]{26}\b/g, "$1_…");
}
