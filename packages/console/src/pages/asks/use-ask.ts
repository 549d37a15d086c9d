import { useQuery } from "@connectrpc/connect-query";
import { ContactsService } from "@svc/gen/contacts";
import { AskState, JobsService } from "@svc/gen/jobs";

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
