import { type StandingProgram, StandingService } from "@svc/gen/standing";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { WriteDialog } from "../../frame/write-dialog.tsx";
import { announce } from "../../ui/notice/announce.ts";

/** Asks before a schedule is deleted, since there is no way back. */
export function DeleteSchedule({
  program: { id, slug },
  projectId,
  onClose,
}: {
  program: StandingProgram;
  projectId: string;
  onClose: () => void;
}) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return (
    <WriteDialog
      method={StandingService.method.deleteStandingProgram}
      title={`Delete the schedule ${slug}?`}
      fields={{ cancelRunning: { check: "Cancel its jobs under way", hint: "Otherwise they go on." } }}
      request={({ cancelRunning }) => ({ id, cancelRunning })}
      keep="Keep it"
      act="Delete it"
      kind="danger"
      onClose={onClose}
      done={async () => {
        announce("The schedule was deleted.");
        await navigate({ to: "/p/$projectId/schedules", params: { projectId } });
        await queries.invalidateQueries();
      }}
    >
      <p>
        It starts nothing any more, for good, and runs of it that wait are skipped. Its jobs are still found by its id.
      </p>
    </WriteDialog>
  );
}
