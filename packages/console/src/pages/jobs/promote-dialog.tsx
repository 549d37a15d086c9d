import { type Job, JobsService } from "@svc/gen/jobs";
import { useState } from "react";
import { useWrite } from "../../calls/write.ts";
import { announce } from "../../ui/announce.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { FaultNotice } from "../../ui/fault.tsx";
import { AreaField, CheckField, TextField } from "../../ui/field.tsx";

/** Makes a tool of the program of a job that succeeded. */
export function PromoteDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  const [slug, setSlug] = useState("");
  const [description, setDescription] = useState("");
  const [newVersion, setNewVersion] = useState(false);
  const promote = useWrite(JobsService.method.promoteJob, {
    onSuccess: ({ tool, version }) => {
      announce(`${tool?.slug ?? slug} is there, version ${version}.`);
      onClose();
    },
  });
  const why = slug === "" ? "Name the skill first" : description === "" ? "Say what the skill does first" : undefined;
  return (
    <Dialog
      open
      onClose={onClose}
      title="Make a skill of this program"
      hideOnInteractOutside={false}
      actions={
        <>
          <Button onPress={onClose}>Not now</Button>
          <Button
            kind="primary"
            why={why}
            onPress={() => promote.send({ jobId: job.id, slug, description, newVersion })}
            busy={promote.isSending ? "Sending" : undefined}
          >
            Make the skill
          </Button>
        </>
      }
    >
      <TextField
        label="Name"
        mono
        value={slug}
        onChange={setSlug}
        hint={`Lower-case letters, digits and underscores. Called as skills.${slug || "<name>"}.`}
      />
      <AreaField
        label="What it does"
        value={description}
        onChange={setDescription}
        hint="Written for a model that must choose."
      />
      <CheckField label="The next version of a skill that exists" checked={newVersion} onChange={setNewVersion} />
      <FaultNotice error={promote.error} />
    </Dialog>
  );
}
