import { useQuery } from "@connectrpc/connect-query";
import { type StandingProgram, StandingService, type StandingVersion } from "@svc/gen/standing";
import { getRouteApi, Link } from "@tanstack/react-router";
import { KeyName } from "../../session/key-name.tsx";
import { JsonView } from "../../ui/code/json-view.tsx";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Columns, Page } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { Copyable } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { passedOverWords, pauseWords, standingWord } from "../../words/standing.ts";
import { ProgramPicture } from "../jobs/job-graph.tsx";
import { JobLink } from "../jobs/job-link.tsx";
import { Runs } from "./runs.tsx";
import { ScheduleButtons } from "./schedule-buttons.tsx";
import { changedWords } from "./version-words.ts";

const route = getRouteApi("/p/$projectId/schedules/$scheduleId");
const lookMs = 4_000;

/** Draws one schedule: its state, its runs, its versions, and its buttons. */
export default function SchedulePage() {
  const { projectId, scheduleId } = route.useParams();
  const found = useQuery(StandingService.method.getStandingProgram, { id: scheduleId }, { refetchInterval: lookMs });
  const program = found.data?.standingProgram;
  const passedOver = found.data?.passedOver ?? 0;
  return (
    <Page
      title={program === undefined ? "Schedule" : program.title || program.slug}
      tab={`Schedule ${program?.slug ?? scheduleId}`}
      state={program !== undefined && <State word={standingWord(program.state)} />}
      actions={
        program !== undefined && (
          <ScheduleButtons program={program} projectId={projectId} onDone={() => void found.refetch()} />
        )
      }
      back={
        <Link to="/p/$projectId/schedules" params={{ projectId }}>
          Schedules
        </Link>
      }
    >
      <FaultNotice error={found.error} onRetry={() => void found.refetch()} />
      {found.isPending && <Skeleton />}
      {program !== undefined && (
        <>
          {program.pauseReason !== "" && (
            <Notice tone="warn" icon="pause" title={pauseWords(program.pauseReason)}>
              {program.pauseDetail !== "" && <p>{program.pauseDetail}</p>}
            </Notice>
          )}
          {passedOver > 0 && <Notice tone="info" title={passedOverWords(passedOver)} />}
          {programOf(program) !== "" && (
            <Section title="Program">
              <ProgramPicture programJson={programOf(program)} />
            </Section>
          )}
          <Columns>
            <Runs id={program.id} projectId={projectId} />
            <Stack>
              <ScheduleFacts program={program} projectId={projectId} />
              <Versions versions={found.data?.versions ?? []} current={program.version} projectId={projectId} />
              <Section title="Definition">
                <JsonView text={program.definitionJson} label="definition" />
              </Section>
            </Stack>
          </Columns>
        </>
      )}
    </Page>
  );
}

/** Returns the JSON text of the program in a schedule's definition, or an empty text if the schedule runs a skill. */
function programOf({ definitionJson }: StandingProgram): string {
  const { program } = JSON.parse(definitionJson) as { readonly program?: unknown };
  return program === undefined ? "" : JSON.stringify(program);
}

/** Draws the versions of a schedule, newest first. Each shows its differences from the version before it. */
function Versions({
  versions,
  current,
  projectId,
}: {
  versions: readonly StandingVersion[];
  current: number;
  projectId: string;
}) {
  const sorted = [...versions].sort((a, b) => b.version - a.version);
  return (
    <Section title="Versions">
      <ul>
        {sorted.map((version, index) => (
          <li key={version.version}>
            <Disclosure
              summary={
                <>
                  <b>{version.version}</b>
                  <span>{changedWords(version, sorted[index + 1])}</span>
                  {version.version === current && <span>runs</span>}
                </>
              }
            >
              <Facts
                facts={[
                  ["Created", <Time key="made" at={version.createdAt} />],
                  ["By key", <code key="key">{version.keyId}</code>],
                  ["Why", version.note === "" ? undefined : version.note],
                  ["Approval", version.approval === "" ? "needs none" : version.approval],
                  [
                    "Asked by",
                    version.jobId === "" ? undefined : <JobLink key="job" projectId={projectId} id={version.jobId} />,
                  ],
                  ["Program", <code key="program">{version.programHash}</code>],
                  ["Definition", <code key="definition">{version.definitionHash}</code>],
                ]}
              />
            </Disclosure>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Draws the properties of a schedule as names and values (for example its id, its version and its next times). */
function ScheduleFacts({ program, projectId }: { program: StandingProgram; projectId: string }) {
  const { id, slug, version, pendingVersion, sourceKind, nextTimes, counts, usedToday, keyId } = program;
  return (
    <Section title="Schedule">
      <Facts
        facts={[
          ["Id", <Copyable key="id" text={id} what="id" />],
          ["Name", slug],
          ["Version", pendingVersion === 0 ? version : `${version}; ${pendingVersion} waits for approval`],
          ["Started by", sourceKind],
          ["Next", nextTimes.length === 0 ? undefined : <NextTimes key="next" times={nextTimes} />],
          [
            "Started",
            counts === undefined ? undefined : `${counts.started}, ${counts.skipped} skipped, ${counts.missed} missed`,
          ],
          ["Failures in a row", counts?.failuresInRow],
          ["Running", counts === undefined ? undefined : `${counts.underWay}, ${counts.queued} queued`],
          [
            "Used today",
            usedToday === undefined
              ? undefined
              : `${usedToday.runs} runs, ${usedToday.toolCalls} calls, ${usedToday.writes} writes`,
          ],
          ["By key", <KeyName key="key" id={keyId} />],
          [
            "Approvals",
            <Link key="asks" to="/p/$projectId/asks" params={{ projectId }} search={{ schedule: id }}>
              View its questions
            </Link>,
          ],
        ]}
      />
    </Section>
  );
}

function NextTimes({ times }: { times: StandingProgram["nextTimes"] }) {
  return (
    <ul>
      {times.map((at) => (
        <li key={String(at.seconds)}>
          <Time at={at} />
        </li>
      ))}
    </ul>
  );
}
