import { createConnectQueryKey, useQuery, useTransport } from "@connectrpc/connect-query";
import { JobsService } from "@svc/gen/jobs";
import { useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { hasEnded } from "../../words/jobs.ts";

/**
 * Interval in milliseconds at which an unfinished job is read. The read shows changes that have no log entry, such as waiting for a lease
 * (the assignment of the job to a node).
 */
const lookMs = 5_000;

/**
 * Reads a job with the React hook `useQuery`, and reads it again at an interval until the job has ended. The answer also contains the job's
 * simulation run, if there was one.
 */
export function useJob(id: string) {
  return useQuery(
    JobsService.method.getJob,
    { id },
    {
      refetchInterval: ({ state: { data } }) => (data?.job === undefined || hasEnded(data.job.status) ? false : lookMs),
    },
  );
}

/** Minimum time in milliseconds between two readings of a job. Each reading cancels the one before, so a busy log would let none end. */
const refreshMs = 1_000;

/** Returns a function that re-reads a job, used after an action and after each log entry. */
export function useRefreshJob(id: string): () => void {
  const queries = useQueryClient();
  const transport = useTransport();
  return useMemo(() => {
    const { getJob, listSteps, getStep, listUndoEntries, listAsks, getAsk } = JobsService.method;
    let readAt = Number.NEGATIVE_INFINITY;
    let due: ReturnType<typeof setTimeout> | undefined;
    const read = () => {
      due = undefined;
      readAt = performance.now();
      const reads = [
        createConnectQueryKey({ schema: getJob, transport, input: { id }, cardinality: "finite" }),
        createConnectQueryKey({ schema: listSteps, transport, input: { jobId: id }, cardinality: "finite" }),
        createConnectQueryKey({ schema: getStep, transport, cardinality: "finite" }),
        createConnectQueryKey({ schema: listUndoEntries, transport, cardinality: "infinite" }),
        createConnectQueryKey({ schema: listAsks, transport, cardinality: "infinite" }),
        createConnectQueryKey({ schema: getAsk, transport, cardinality: "finite" }),
      ];
      for (const queryKey of reads) void queries.invalidateQueries({ queryKey });
    };
    return () => {
      const leftMs = readAt + refreshMs - performance.now();
      if (leftMs <= 0) read();
      else if (due === undefined) due = setTimeout(read, leftMs);
    };
  }, [id, queries, transport]);
}
