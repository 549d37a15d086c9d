import { type Job, JobsService } from "@svc/gen/jobs";
import { WriteDialog } from "../../frame/write-dialog.tsx";
import { announce } from "../../ui/notice/announce.ts";
import { cancelWords } from "./job-actions.ts";
import { useRefreshJob } from "./use-job.ts";

/** Says what cancelling does, and does it. */
export function CancelDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  const refresh = useRefreshJob(job.id);
  return (
    <WriteDialog
      method={JobsService.method.cancelJob}
      title="Cancel this job?"
      fields={{}}
      request={() => ({ id: job.id })}
      keep="Let it run"
      act="Cancel the job"
      busy="Cancelling"
      kind="danger"
      onClose={onClose}
      done={() => {
        announce("The job is being cancelled.");
        refresh();
        onClose();
      }}
    >
      {cancelWords(job).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
    </WriteDialog>
  );
}
