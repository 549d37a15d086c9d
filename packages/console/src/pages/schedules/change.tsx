import { useQuery } from "@connectrpc/connect-query";
import { type StandingProgram, StandingService } from "@svc/gen/standing";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { failureOf } from "../../calls/fault.ts";
import { useRefresh, useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { prettyJson } from "../../words/pretty-json.ts";
import { hasHiddenInput } from "./definition.ts";
import { ScheduleEditor } from "./schedule-editor.tsx";

const route = getRouteApi("/p/$projectId/schedules/$scheduleId/change");

/** Draws the page that makes the next version of a schedule. The form starts with the current version. */
export default function ChangeSchedulePage() {
  const { scheduleId } = route.useParams();
  // The schedule is read once, so that the form does not change while the user edits it. If another user changes the schedule in the
  // meantime, sending reports this.
  const found = useQuery(
    StandingService.method.getStandingProgram,
    { id: scheduleId },
    { staleTime: Number.POSITIVE_INFINITY },
  );
  const program = found.data?.standingProgram;
  if (program !== undefined)
    return <ChangeSchedule key={program.version} program={program} onReload={() => void found.refetch()} />;
  return (
    <Page title="Change a schedule" back={<Back />}>
      <FaultNotice error={found.error} onRetry={() => void found.refetch()} />
      {found.isPending && <Skeleton />}
    </Page>
  );
}

function Back() {
  const { projectId, scheduleId } = route.useParams();
  return (
    <Link to="/p/$projectId/schedules/$scheduleId" params={{ projectId, scheduleId }}>
      The schedule
    </Link>
  );
}

function ChangeSchedule({
  program,
  onReload,
}: {
  program: StandingProgram;
  /** Reads the schedule again. If the service has a newer version of the schedule, the form starts again from that version. */
  onReload: () => void;
}) {
  const { projectId } = route.useParams();
  const { id, version, title, slug } = program;
  const initial = useMemo(() => prettyJson(program.definitionJson), [program]);
  const navigate = route.useNavigate();
  const refresh = useRefresh(StandingService);
  const update = useWrite(StandingService.method.updateStandingProgram, {
    onSuccess: async () => {
      announce("The schedule was changed.");
      await navigate({ to: "/p/$projectId/schedules/$scheduleId", params: { projectId, scheduleId: id } });
      await refresh();
    },
  });
  return (
    <ScheduleEditor
      title={`Change ${title || slug}`}
      back={<Back />}
      initial={initial}
      runs={(steps) => steps}
      actions={({ definitionJson, why }) => (
        <Button
          kind="primary"
          why={why ?? (hasHiddenInput(definitionJson) ? "Enter the values that are shown as *** again" : undefined)}
          busy={update.isSending ? "Sending" : undefined}
          onPress={() => update.send({ id, definitionJson, expectedVersion: version })}
        >
          Change it
        </Button>
      )}
      error={update.error}
    >
      {({ definitionJson }) => (
        <Stack>
          {hasHiddenInput(definitionJson) && (
            <Notice tone="warn" title="The input has hidden values">
              <p>Hidden values are shown as ***. Enter them again before you save.</p>
            </Notice>
          )}
          <p>This is version {version + 1}. New runs use it. Waiting runs keep their version.</p>
          {isStale(update.error) && (
            <Line>
              <Button onPress={onReload}>Discard my changes and load the current version</Button>
            </Line>
          )}
        </Stack>
      )}
    </ScheduleEditor>
  );
}

/** True if another user changed the schedule after the page had read it. */
function isStale(error: unknown): boolean {
  return error !== null && failureOf(error).faults.some(({ reason }) => reason === "STANDING_VERSION_STALE");
}
