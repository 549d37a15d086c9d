import { useQuery } from "@connectrpc/connect-query";
import { StandingService } from "@svc/gen/standing";
import { getRouteApi, Link } from "@tanstack/react-router";
import { JsonView } from "../../ui/code/json-view.tsx";
import { Columns, Page } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { State } from "../../ui/values/state.tsx";
import { passedOverWords, pauseWords, standingWord } from "../../words/standing.ts";
import { Runs } from "./runs.tsx";
import { ScheduleButtons } from "./schedule-buttons.tsx";
import { ScheduleFacts } from "./schedule-facts.tsx";
import { Versions } from "./versions.tsx";

const route = getRouteApi("/p/$projectId/schedules/$scheduleId");
const lookMs = 4_000;

/** One schedule: how it stands, its runs, its versions, and what may be done with it. */
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
