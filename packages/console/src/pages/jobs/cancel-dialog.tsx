import { type Job, JobsService } from "@svc/gen/jobs";
import { useWrite } from "../../calls/write.ts";
import { announce } from "../../ui/announce.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { FaultNotice } from "../../ui/fault.tsx";
import { cancelWords } from "./job-actions.ts";
import { useRefreshJob } from "./use-job.ts";

/** Says what cancelling does, and does it. */
export function CancelDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  const refresh = useRefreshJob(job.id);
  const cancel = useWrite(JobsService.method.cancelJob, {
    onSuccess: () => {
      announce("The job is being cancelled.");
      refresh();
      onClose();
    },
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title="Cancel this job?"
      actions={
        <>
          <Button onPress={onClose}>Let it run</Button>
          <Button
            kind="danger"
            onPress={() => cancel.send({ id: job.id })}
            busy={cancel.isSending ? "Cancelling" : undefined}
          >
            Cancel the job
          </Button>
        </>
      }
    >
      {cancelWords(job).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      <FaultNotice error={cancel.error} />
    </Dialog>
  );
}
