import { useQuery } from "@connectrpc/connect-query";
import { type StandingRun, StandingRunState, StandingService } from "@svc/gen/standing";
import { getRouteApi, Link } from "@tanstack/react-router";
import { DetailPage } from "../../frame/detail-page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Copyable } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { runWord } from "../../words/standing.ts";
import { JobLink, ScheduleLink } from "../jobs/job-link.tsx";

const route = getRouteApi("/p/$projectId/runs/$runId");
const lookMs = 4_000;

/** Draws one run of a schedule: what caused it, what svc decided about it, its job, and why it failed. */
export default function RunPage() {
  const { projectId, runId } = route.useParams();
  const found = useQuery(
    StandingService.method.getStandingRun,
    { id: runId },
    { refetchInterval: ({ state: { data } }) => (hasEnded(data?.run) ? false : lookMs) },
  );
  const run = found.data?.run;
  return (
    <DetailPage
      title={run === undefined ? "Run" : `Run ${causes[run.kind] ?? run.kind}`}
      tab={`Run ${runId}`}
      state={run !== undefined && <State word={runWord(run)} />}
      list={{ to: "/p/$projectId/schedules", words: "Schedules" }}
      query={found}
      strip={{ id: runId, state: `${run?.state} ${run?.jobStatus}`, failure: run?.failure?.title }}
    >
      {run !== undefined && <RunFacts run={run} projectId={projectId} />}
    </DetailPage>
  );
}

const causes: Readonly<Record<string, string>> = {
  schedule: "at its time",
  event: "by an event",
  poll: "by new items of a list",
  hand: "started by a caller",
};

const ended: readonly StandingRunState[] = [StandingRunState.ENDED, StandingRunState.SKIPPED, StandingRunState.REFUSED];

function hasEnded(run: StandingRun | undefined): boolean {
  return run !== undefined && ended.includes(run.state);
}

function RunFacts({ run, projectId }: { run: StandingRun; projectId: string }) {
  const { id, standingProgramId, version, fireAt, decidedAt, startedAt, endedAt, reason, detail, failure } = run;
  const { count, missed, key, jobId, blockingJobId, notBefore, eventIds, rowCount } = run;
  return (
    <Section title="Run">
      <Facts
        facts={[
          ["Schedule", <ScheduleLink key="schedule" projectId={projectId} id={standingProgramId} />],
          ["Version", version],
          ["Due", <Time key="due" at={fireAt} />],
          ["Decided", <Time key="decided" at={decidedAt} />],
          ["Started", <Time key="started" at={startedAt} none="not started" />],
          ["Ended", endedAt === undefined ? undefined : <Time key="ended" at={endedAt} />],
          ["Job", jobId === "" ? undefined : <JobLink key="job" projectId={projectId} id={jobId} />],
          [
            "Reason",
            failure === undefined && reason !== "" ? `${reason}${detail === "" ? "" : `: ${detail}`}` : undefined,
          ],
          ["Waits until", notBefore === undefined ? undefined : <Time key="until" at={notBefore} />],
          [
            "Waits for",
            blockingJobId === "" ? undefined : <JobLink key="blocking" projectId={projectId} id={blockingJobId} />,
          ],
          ["Covers", count > 1 ? `${count} due times or events` : undefined],
          ["Missed before it", missed > 0 ? missed : undefined],
          ["New items", rowCount > 0 ? rowCount : undefined],
          ["Concurrency key", key === "" ? undefined : key],
          ["Events", eventIds.length === 0 ? undefined : <Events key="events" ids={eventIds} projectId={projectId} />],
          ["Id", <Copyable key="id" text={id} what="id" />],
        ]}
      />
    </Section>
  );
}

function Events({ ids, projectId }: { ids: readonly string[]; projectId: string }) {
  return (
    <ul>
      {ids.map((eventId) => (
        <li key={eventId}>
          <Link to="/p/$projectId/events/$eventId" params={{ projectId, eventId }}>
            <code>{eventId}</code>
          </Link>
        </li>
      ))}
    </ul>
  );
}
