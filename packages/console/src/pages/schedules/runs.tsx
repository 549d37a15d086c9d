import { StandingService } from "@svc/gen/standing";
import { getRouteApi } from "@tanstack/react-router";
import { useRows } from "../../calls/rows.ts";
import { Button } from "../../ui/button.tsx";
import { Choice } from "../../ui/choice.tsx";
import { FaultNotice } from "../../ui/fault.tsx";
import { Section } from "../../ui/section.tsx";
import { Line, Stack } from "../../ui/stack.tsx";
import { State } from "../../ui/state.tsx";
import { Time } from "../../ui/time.tsx";
import { runWord } from "../../words/standing.ts";
import { JobLink } from "../jobs/columns.tsx";
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

/** The runs of a schedule, newest first, by why they were not started. */
export function Runs({ id, projectId }: { id: string; projectId: string }) {
  const { reason } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useRows(
    StandingService.method.listStandingRuns,
    { standingProgramId: id, reason: reason ?? "", pageSize: 50 },
    ({ runs }) => runs,
    { refetchMs: lookMs },
  );
  const filter = (
    <Line>
      <Strip id={id} />
      <Choice
        label="Reason"
        value={reason ?? ""}
        options={[{ value: "", words: "any" }, ...reasons.map((word) => ({ value: word, words: word }))]}
        onChange={(to) => void navigate({ search: { reason: to || undefined }, replace: true })}
      />
    </Line>
  );
  return (
    <Section title="Runs" actions={filter}>
      <FaultNotice error={list.error} onRetry={list.reload} />
      {list.state === "ready" && list.rows.length === 0 && (
        <p>{reason === undefined ? "It has not run yet." : `No run has the reason ${reason}.`}</p>
      )}
      <Stack tight>
        {list.rows.map((run) => (
          <Line key={run.id} apart>
            <Line>
              <State word={runWord(run)} />
              <span>
                {run.kind}
                {run.reason !== "" && `, ${run.reason}`}
                {run.count > 1 && `, ${run.count} times`}
                {run.detail !== "" && `: ${run.detail}`}
              </span>
            </Line>
            <Line>
              <Time at={run.fireAt} />
              {run.jobId !== "" && <JobLink projectId={projectId} id={run.jobId} />}
            </Line>
          </Line>
        ))}
      </Stack>
      {list.hasMore && <Button onPress={list.loadMore}>Load more</Button>}
    </Section>
  );
}
