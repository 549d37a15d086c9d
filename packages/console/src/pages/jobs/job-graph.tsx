import { useQuery } from "@connectrpc/connect-query";
import { type Job, type JobStep, JobsService } from "@svc/gen/jobs";
import { Suspense, useMemo } from "react";
import { useNow } from "../../clock.ts";
import type { GraphProps } from "../../ui/flow/graph-model.ts";
import { laterPart } from "../../ui/later-part.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { toGraphProgram, toGraphRun } from "./described-program.ts";

// The code that places and draws a graph is loaded when a graph is first shown.
const Graph = laterPart(() => import("../../ui/flow/graph.tsx"));

/** Draws the program of a job as a graph, with the state of each step. The program of a job never changes, so it is read once. */
export function JobGraph({
  job,
  steps,
  selected,
  onSelect,
}: {
  job: Job;
  steps: readonly JobStep[];
  /** Id of the step that is selected. */
  selected: string | undefined;
  onSelect: (id: string) => void;
}) {
  const described = useQuery(
    JobsService.method.describeProgram,
    { jobId: job.id },
    { staleTime: Number.POSITIVE_INFINITY },
  );
  const program = useMemo(() => described.data && toGraphProgram(described.data), [described.data]);
  const now = useNow();
  return (
    <>
      <FaultNotice error={described.error} onRetry={() => void described.refetch()} />
      {described.isPending && <Skeleton rows={6} />}
      {program?.steps.length === 0 && <p>The program cannot be drawn.</p>}
      {program !== undefined && program.steps.length > 0 && (
        <ProgramGraph
          label="Steps and their data"
          program={program}
          run={toGraphRun(job, steps, now)}
          selected={selected}
          onSelect={onSelect}
        />
      )}
    </>
  );
}

/** Draws the graph of a program without the state of a run, for example on the page of a schedule. */
export function ProgramPicture({ programJson }: { programJson: string }) {
  const described = useQuery(
    JobsService.method.describeProgram,
    { programJson },
    { staleTime: Number.POSITIVE_INFINITY },
  );
  const program = useMemo(() => described.data && toGraphProgram(described.data), [described.data]);
  return (
    <>
      <FaultNotice error={described.error} onRetry={() => void described.refetch()} />
      {described.isPending && <Skeleton rows={6} />}
      {program !== undefined && program.steps.length > 0 && (
        <ProgramGraph
          label="Steps and their data"
          program={program}
          run={undefined}
          selected={undefined}
          onSelect={undefined}
        />
      )}
    </>
  );
}

function ProgramGraph(props: GraphProps) {
  return (
    <Suspense fallback={<Skeleton rows={6} />}>
      <Graph key={props.program.key} {...props} />
    </Suspense>
  );
}
