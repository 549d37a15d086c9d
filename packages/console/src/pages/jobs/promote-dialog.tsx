import { type Job, JobsService } from "@svc/gen/jobs";
import { WriteDialog } from "../../frame/write-dialog.tsx";
import { announce } from "../../ui/notice/announce.ts";

/** Makes a tool of the program of a job that succeeded. */
export function PromoteDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  return (
    <WriteDialog
      method={JobsService.method.promoteJob}
      title="Make a skill of this program"
      fields={{
        slug: {
          text: "Name",
          mono: true,
          hint: ({ slug }) => `Lower-case letters, digits and underscores. Called as skills.${slug || "<name>"}.`,
        },
        description: { area: "What it does", hint: "Written for a model that must choose." },
        newVersion: { check: "The next version of a skill that exists" },
      }}
      request={(values) => ({ jobId: job.id, ...values })}
      why={({ slug, description }) =>
        slug === "" ? "Name the skill first" : description === "" ? "Say what the skill does first" : undefined
      }
      keep="Not now"
      act="Make the skill"
      onClose={onClose}
      done={({ tool, version }, { slug }) => {
        announce(`${tool?.slug ?? slug} is there, version ${version}.`);
        onClose();
      }}
    />
  );
}
