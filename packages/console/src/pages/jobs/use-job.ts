import { createConnectQueryKey, useQuery, useTransport } from "@connectrpc/connect-query";
import { JobsService } from "@svc/gen/jobs";
import { useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { hasEnded } from "../../words/jobs.ts";

/** A job that has not ended is looked at this often even if its log says nothing, as while it waits for its lease. */
const lookMs = 5_000;

/** A job as it is now, with its simulation. */
export function useJob(id: string) {
  return useQuery(
    JobsService.method.getJob,
    { id },
    {
      refetchInterval: ({ state: { data } }) => (data?.job === undefined || hasEnded(data.job.status) ? false : lookMs),
    },
  );
}

/** Reads what is shown of a job again: after an act, and whenever its log tells of something. */
export function useRefreshJob(id: string): () => void {
  const queries = useQueryClient();
  const transport = useTransport();
  return useMemo(() => {
    const { getJob, listSteps, listUndoEntries, listAsks, getAsk } = JobsService.method;
    return () => {
      const reads = [
        createConnectQueryKey({ schema: getJob, transport, input: { id }, cardinality: "finite" }),
        createConnectQueryKey({ schema: listSteps, transport, input: { jobId: id }, cardinality: "finite" }),
        createConnectQueryKey({ schema: listUndoEntries, transport, cardinality: "infinite" }),
        createConnectQueryKey({ schema: listAsks, transport, cardinality: "infinite" }),
        createConnectQueryKey({ schema: getAsk, transport, cardinality: "finite" }),
      ];
      for (const queryKey of reads) void queries.invalidateQueries({ queryKey });
    };
  }, [id, queries, transport]);
}
