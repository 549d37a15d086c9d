import { JobsService } from "@svc/gen/jobs";
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { useWrite } from "../../calls/write.ts";
import { randomKey } from "../../random.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { CheckField } from "../../ui/fields/field.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";

type Submission = { text: string; mode: "live" | "simulate"; simulateFirst: boolean };

/**
 * Draws the buttons that run a program, simulated or for real, and then open its job. Pressing twice, or sending again after a lost
 * connection, creates only one job.
 */
export function SubmitButtons({ text, projectId, why }: { text: string; projectId: string; why: string | undefined }) {
  const navigate = useNavigate();
  const [simulateFirst, setSimulateFirst] = useState(false);
  const keys = useRef(new Map<string, string>());
  const submit = useWrite(JobsService.method.submitJob, {
    onSuccess: ({ job }) => {
      if (job !== undefined) void navigate({ to: "/p/$projectId/jobs/$jobId", params: { projectId, jobId: job.id } });
    },
  });
  const send = (submission: Submission) =>
    submit.send({
      programJson: submission.text,
      mode: submission.mode,
      simulateFirst: submission.simulateFirst,
      idempotencyKey: keyFor(keys.current, submission),
    });
  const isSending = (mode: string) => (submit.isSending && submit.sent?.mode === mode ? "Submitting" : undefined);
  return (
    <Stack>
      <Line>
        <Button
          icon="search"
          why={why}
          busy={isSending("simulate")}
          onPress={() => send({ text, mode: "simulate", simulateFirst: false })}
        >
          Simulate
        </Button>
        <Button
          kind="primary"
          icon="send"
          why={why}
          busy={isSending("live")}
          onPress={() => send({ text, mode: "live", simulateFirst })}
        >
          Submit
        </Button>
      </Line>
      <CheckField
        label="Dry run first"
        checked={simulateFirst}
        onChange={setSimulateFirst}
        hint="svc first runs the program without writes. The approver sees the result."
      />
      <FaultNotice error={submit.error} />
    </Stack>
  );
}

/** Returns the idempotency key of a submission. The key is created once, and stays the same when the submission is sent again. */
function keyFor(keys: Map<string, string>, submission: Submission): string {
  const name = JSON.stringify(submission);
  const known = keys.get(name) ?? randomKey();
  keys.set(name, known);
  return known;
}
