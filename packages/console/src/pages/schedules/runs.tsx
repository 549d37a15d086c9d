import { type StandingRun, StandingService } from "@svc/gen/standing";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useRows } from "../../calls/rows.ts";
import { anyOf, Choice } from "../../ui/fields/choice.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { NoMatch } from "../../ui/notice/empty.tsx";
import { ListStates, LoadMore } from "../../ui/rows/list-states.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { runWord } from "../../words/standing.ts";
import { JobLink } from "../jobs/job-link.tsx";
import { Strip } from "./strip.tsx";

const route = getRouteApi("/p/$projectId/schedules/$scheduleId");
const lookMs = 4_000;
const reasons = [
  ...[
    "missed",
    "overlap",
    "superseded",
    "queue_full",
    "late",
    "rate",
    "budget",
    "project_runs",
    "quota",
    "duplicate",
    "paused",
  ],
  ...["input_invalid", "filter_error", "start_failed", "key_revoked", "approval", "cancelled"],
];

/** Returns why a run failed, or the details of why it was not started. Empty if there are none. */
function whyOf({ failure, detail }: StandingRun): string {
  return failure?.title ?? detail;
}

/**
 * Draws the runs of a schedule, newest first. A filter selects a reason why a run was not started. The list then shows only the runs that
 * did not start for this reason.
 */
export function Runs({ id, projectId }: { id: string; projectId: string }) {
  const { reason } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useRows(
    StandingService.method.listStandingRuns,
    { standingProgramId: id, reason: reason ?? "", pageSize: 50 },
    ({ runs }) => runs,
    { refetchMs: lookMs },
  );
  const change = (to: string | undefined) => void navigate({ search: { reason: to }, replace: true });
  const filter = (
    <Line>
      <Strip id={id} />
      <Choice label="Reason" value={reason ?? ""} options={anyOf(reasons)} onChange={(to) => change(to || undefined)} />
    </Line>
  );
  return (
    <Section title="Runs" actions={filter}>
      <ListStates
        list={list}
        isFiltered={reason !== undefined}
        empty={<p>No runs yet.</p>}
        noMatch={<NoMatch title={`No run has the reason ${reason}`} onClear={() => change(undefined)} />}
        skeletonRows={3}
      >
        <Stack tight>
          {list.rows.map((run) => (
            <Line key={run.id} apart>
              <Line>
                <State word={runWord(run)} />
                <span>
                  {run.kind}
                  {run.reason !== "" && `, ${run.reason}`}
                  {run.count > 1 && `, ${run.count} times`}
                  {whyOf(run) !== "" && `: ${whyOf(run)}`}
                </span>
              </Line>
              <Line>
                <Link to="/p/$projectId/runs/$runId" params={{ projectId, runId: run.id }}>
                  <Time at={run.fireAt} />
                </Link>
                {run.jobId !== "" && <JobLink projectId={projectId} id={run.jobId} />}
              </Line>
            </Line>
          ))}
        </Stack>
      </ListStates>
      <LoadMore list={list} />
    </Section>
  );
}
