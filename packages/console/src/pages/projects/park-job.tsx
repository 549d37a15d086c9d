import { AdminService } from "@svc/gen/admin";
import { useState } from "react";
import { useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { ConfirmButton } from "../../ui/buttons/confirm-button.tsx";
import { TextField } from "../../ui/fields/field.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { announce } from "../../ui/notice/announce.ts";
import { FaultNotice } from "../../ui/notice/fault.tsx";

/** Parks a job that does harm, and takes a parked one back to where it stood. The administrator sees no jobs: its id is told by the project. */
export function ParkJob({ projectId }: { projectId: string }) {
  const [jobId, setJobId] = useState("");
  const park = useWrite(AdminService.method.parkJob, { onSuccess: () => announce("The job is parked.") });
  const release = useWrite(AdminService.method.releaseJob, { onSuccess: () => announce("The job goes on.") });
  const id = jobId.trim();
  const why = id === "" ? "Fill in the job's id first" : undefined;
  return (
    <Section title="Hold a job">
      <Stack>
        <p>
          A job that does harm is parked at once, from any node, until it is released or cancelled; its deadline runs
          on. A call that is under way is not ended.
        </p>
        <TextField label="Job id" mono autoComplete="off" placeholder="job_…" value={jobId} onChange={setJobId} />
        <Line>
          <ConfirmButton
            words="Park"
            why={why}
            title={`Park ${id}?`}
            says="It stands still until it is released or cancelled, or its deadline passes."
            confirm="Park the job"
            busy="Parking"
            act={() => park.sendAsync({ projectId, jobId: id })}
          />
          <Button
            why={why}
            busy={release.isSending ? "Releasing" : undefined}
            onPress={() => release.send({ projectId, jobId: id })}
          >
            Release
          </Button>
        </Line>
        <FaultNotice error={release.error} />
      </Stack>
    </Section>
  );
}
