import { useQuery } from "@connectrpc/connect-query";
import { ContactsService } from "@svc/gen/contacts";
import { AskState, JobsService } from "@svc/gen/jobs";
import { keptNames } from "../../session/kept-names.ts";

const lookMs = 2_000;

/** One ask as it is now; looked at again while it waits. Without a job's id it is found by its own. */
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

/** The contacts of the project, as far as one page has them. */
export function useContacts() {
  return useQuery(ContactsService.method.listContacts, { pageSize: 500 }, { staleTime: 60_000 });
}

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
