import { type StandingProgram, StandingService, StandingState } from "@svc/gen/standing";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useWrite } from "../../calls/write.ts";
import { WriteDialog } from "../../frame/write-dialog.tsx";
import { randomKey } from "../../random.ts";
import { Button, buttonClass } from "../../ui/buttons/button.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";

/** Draws the buttons of a schedule: run now, pause, resume, change, and delete after a confirmation. */
export function ScheduleButtons({
  program,
  projectId,
  onDone,
}: {
  program: StandingProgram;
  projectId: string;
  onDone: () => void;
}) {
  const { id, state, pauseReason } = program;
  const navigate = useNavigate();
  const [isDeleting, setDeleting] = useState(false);
  const [idempotencyKey, setIdempotencyKey] = useState(randomKey);
  const { pauseStandingProgram, resumeStandingProgram, runStandingProgram } = StandingService.method;
  const pause = useWrite(pauseStandingProgram, { onSuccess: onDone });
  const resume = useWrite(resumeStandingProgram, { onSuccess: onDone });
  const run = useWrite(runStandingProgram, {
    onSuccess: ({ run: made }) => {
      setIdempotencyKey(randomKey());
      onDone();
      if (made === undefined || made.jobId === "") announce("The run is queued.");
      else void navigate({ to: "/p/$projectId/jobs/$jobId", params: { projectId, jobId: made.jobId } });
    },
  });
  return (
    <>
      <Button
        icon="play"
        onPress={() => run.send({ id, idempotencyKey })}
        busy={run.isSending ? "Starting" : undefined}
      >
        Run now
      </Button>
      {state === StandingState.PAUSED ? (
        <Button
          kind="primary"
          onPress={() => resume.send({ id, adopt: pauseReason === "drift" })}
          busy={resume.isSending ? "Resuming" : undefined}
        >
          {pauseReason === "drift" ? "Resume with the current tools" : "Resume"}
        </Button>
      ) : (
        <Button icon="pause" onPress={() => pause.send({ id })} busy={pause.isSending ? "Pausing" : undefined}>
          Pause
        </Button>
      )}
      <Link
        to="/p/$projectId/schedules/$scheduleId/change"
        params={{ projectId, scheduleId: id }}
        className={buttonClass()}
      >
        Change
      </Link>
      <Button kind="danger" onPress={() => setDeleting(true)}>
        Delete
      </Button>
      {isDeleting && <DeleteSchedule program={program} projectId={projectId} onClose={() => setDeleting(false)} />}
      <FaultNotice error={run.error ?? pause.error ?? resume.error} />
    </>
  );
}

/** Asks before a schedule is deleted, because that cannot be undone. */
function DeleteSchedule({
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
      fields={{ cancelRunning: { check: "Cancel its running jobs", hint: "Otherwise the jobs continue." } }}
      request={({ cancelRunning }) => ({ id, cancelRunning })}
      keep="Cancel"
      act="Delete it"
      kind="danger"
      onClose={onClose}
      done={async () => {
        announce("The schedule was deleted.");
        await navigate({ to: "/p/$projectId/schedules", params: { projectId } });
        await queries.invalidateQueries();
      }}
    >
      <p>It starts no more jobs, and its waiting runs are skipped. You can still find its jobs by its id.</p>
    </WriteDialog>
  );
}
