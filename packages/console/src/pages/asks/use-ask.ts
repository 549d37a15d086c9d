import { useQuery } from "@connectrpc/connect-query";
import { ContactsService } from "@svc/gen/contacts";
import { AskState, JobsService } from "@svc/gen/jobs";
import { keptNames } from "../../session/kept-names.ts";

const lookMs = 2_000;

/**
 * Reads one question, and reads it again every two seconds while the question is pending. `jobId` may be empty; the question is then found
 * by its own id.
 */
export function useAsk(jobId: string, requestId: string) {
  return useQuery(
    JobsService.method.getAsk,
    { jobId, requestId },
    {
      enabled: requestId !== "",
      refetchInterval: ({ state }) => (state.data?.ask?.state === AskState.PENDING ? lookMs : false),
    },
  );
}

/** Returns the first 500 contacts of the project, which is one page of the list. Further contacts are not read. */
export function useContacts() {
  return useQuery(ContactsService.method.listContacts, { pageSize: 500 }, { staleTime: 60_000 });
}

const storedAs = keptNames.answeredAs;

function read(): Record<string, string> {
  try {
    return JSON.parse(localStorage.getItem(storedAs) ?? "{}") as Record<string, string>;
  } catch {
    // The browser's storage is not available, so the choice is kept only until the page closes.
    return {};
  }
}

let kept = read();

/** Returns the contact for whom this browser last answered in a project. Returns undefined before the first answer. */
export function lastAnsweredAs(projectId: string): string | undefined {
  return kept[projectId];
}

/** Stores in the browser for which contact the user answered last in a project, as the default for the next answer. */
export function rememberAnswerAs(projectId: string, principalId: string): void {
  kept = { ...kept, [projectId]: principalId };
  try {
    localStorage.setItem(storedAs, JSON.stringify(kept));
  } catch {
    // The browser's storage is not available, so nothing is stored.
  }
}
