import { type Job, JobsService } from "@svc/gen/jobs";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Suspense, useState } from "react";
import { useWrite } from "../../calls/write.ts";
import { DetailPage } from "../../frame/detail-page.tsx";
import { WriteDialog } from "../../frame/write-dialog.tsx";
import { Button } from "../../ui/buttons/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import { laterPart } from "../../ui/later-part.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Menu } from "../../ui/overlay/menu.tsx";
import { State } from "../../ui/values/state.tsx";
import { jobStatusWord } from "../../words/jobs.ts";
import { actsOf, cancelWords } from "./job-actions.ts";
import { JobBody } from "./job-body.tsx";
import { jobTitle } from "./job-words.ts";
import { useJob, useRefreshJob } from "./use-job.ts";

const RerunDialog = laterPart(() => import("./rerun-dialog.tsx"));
const RetryDialog = laterPart(() => import("./retry-dialog.tsx"));

type Open = "cancel" | "retry" | "rerun" | "promote" | undefined;

/** Draws the buttons that a job has in its current state. */
function JobButtons({ job, projectId }: { job: Job; projectId: string }) {
  const [open, setOpen] = useState<Open>();
  const navigate = useNavigate();
  const refresh = useRefreshJob(job.id);
  const pause = useWrite(JobsService.method.pauseJob, {
    onSuccess: () => {
      announce("Paused: no new call starts.");
      refresh();
    },
  });
  const resume = useWrite(JobsService.method.resumeJob, { onSuccess: refresh });
  const acts = actsOf(job);
  const close = () => setOpen(undefined);
  const edit = () =>
    void navigate({ to: "/p/$projectId/programs/new", params: { projectId }, search: { from: job.id } });
  const more = [
    { id: "edit", words: "Edit program", onPress: edit },
    ...(acts.rerun ? [{ id: "rerun", words: "Run again", onPress: () => setOpen("rerun") }] : []),
    ...(acts.promote ? [{ id: "promote", words: "Save as a tool", onPress: () => setOpen("promote") }] : []),
  ];
  return (
    <>
      {acts.retry && (
        <Button
          kind={job.lastError.startsWith("LIMIT_REACHED") ? "plain" : "primary"}
          icon="replay"
          onPress={() => setOpen("retry")}
        >
          Retry
        </Button>
      )}
      {acts.pause && (
        <Button icon="pause" onPress={() => pause.send({ id: job.id })} busy={pause.isSending ? "Pausing" : undefined}>
          Pause
        </Button>
      )}
      {acts.resume && (
        <Button
          icon="play"
          onPress={() => resume.send({ id: job.id })}
          busy={resume.isSending ? "Resuming" : undefined}
        >
          Resume
        </Button>
      )}
      {acts.cancel && (
        <Button kind="danger" onPress={() => setOpen("cancel")}>
          Cancel
        </Button>
      )}
      <Menu label="More actions" kind="plain" entries={more}>
        <Icon name="more" />
      </Menu>
      <FaultNotice error={pause.error ?? resume.error} />
      {open === "cancel" && <CancelDialog job={job} onClose={close} />}
      <Suspense>
        {open === "retry" && <RetryDialog job={job} onClose={close} />}
        {open === "rerun" && <RerunDialog job={job} projectId={projectId} onClose={close} />}
      </Suspense>
      {open === "promote" && <PromoteDialog job={job} onClose={close} />}
    </>
  );
}

/** Draws the dialog that cancels a job. It first shows the effects of cancelling. */
function CancelDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  const refresh = useRefreshJob(job.id);
  return (
    <WriteDialog
      method={JobsService.method.cancelJob}
      title="Cancel this job?"
      fields={{}}
      request={() => ({ id: job.id })}
      keep="Keep running"
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

/** Draws the dialog that makes a tool (a skill) from the program of a job that succeeded. */
function PromoteDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  return (
    <WriteDialog
      method={JobsService.method.promoteJob}
      title="Save this program as a tool"
      fields={{
        slug: {
          text: "Name",
          mono: true,
          hint: ({ slug }) => `Lower-case letters, digits and underscores. Called as skills.${slug || "<name>"}.`,
        },
        description: { area: "Description", hint: "Agents read this text to decide if they use the tool." },
        newVersion: { check: "New version of a saved tool" },
      }}
      request={(values) => ({ jobId: job.id, ...values })}
      why={({ slug, description }) =>
        slug === "" ? "Enter a name first" : description === "" ? "Enter a description first" : undefined
      }
      keep="Cancel"
      act="Save as a tool"
      onClose={onClose}
      done={({ tool, version }, { slug }) => {
        announce(`${tool?.slug ?? slug} is there, version ${version}.`);
        onClose();
      }}
    />
  );
}

const route = getRouteApi("/p/$projectId/jobs/$jobId");

/** Draws one job: its steps, its live log, its receipt (final report), and what the job waits for. */
export default function JobPage() {
  const { projectId, jobId } = route.useParams();
  const found = useJob(jobId);
  const job = found.data?.job;
  return (
    <DetailPage
      title={job === undefined ? "Job" : jobTitle(job)}
      tab={`Job ${jobId}`}
      state={job !== undefined && <State word={jobStatusWord(job.status)} />}
      actions={job !== undefined && <JobButtons job={job} projectId={projectId} />}
      list={{ to: "/p/$projectId/jobs", words: "Jobs" }}
      query={found}
      strip={{ id: jobId, state: `${job?.status}`, failure: undefined }}
    >
      {job !== undefined && <JobBody job={job} simulation={found.data?.simulation} projectId={projectId} />}
    </DetailPage>
  );
}
