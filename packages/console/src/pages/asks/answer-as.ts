import { keptNames } from "../../session/kept-names.ts";

const storedAs = keptNames.answeredAs;

function read(): Record<string, string> {
  try {
    return JSON.parse(localStorage.getItem(storedAs) ?? "{}") as Record<string, string>;
  } catch {
    // Storage is off: the choice lasts as long as the page.
    return {};
  }
}

let kept = read();

/** The contact in whose name this browser last answered in a project; undefined before the first answer. */
export function lastAnsweredAs(projectId: string): string | undefined {
  return kept[projectId];
}

/** Remembers in whose name this browser answers in a project. */
export function rememberAnswerAs(projectId: string, principalId: string): void {
  kept = { ...kept, [projectId]: principalId };
  try {
    localStorage.setItem(storedAs, JSON.stringify(kept));
  } catch {
    // As above.
  }
}
