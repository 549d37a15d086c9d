import type { Skill } from "@svc/gen/jobs";
import { ToolsService } from "@svc/gen/tools";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useWrite } from "../../calls/write.ts";
import { randomKey } from "../../random.ts";
import { Button, buttonClass } from "../../ui/buttons/button.tsx";
import { AreaField } from "../../ui/fields/field.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { skeletonInput } from "./skeleton-input.ts";

/** Calls a skill with some input, and leads to the job that does it. */
export function CallForm({ skill, isNewest, projectId }: { skill: Skill; isNewest: boolean; projectId: string }) {
  const [input, setInput] = useState(() => skeletonInput(skill.inputSchemaJson));
  const [idempotencyKey, setIdempotencyKey] = useState(randomKey);
  const call = useWrite(ToolsService.method.callTool);
  const toolSlug = isNewest ? skill.toolSlug : `${skill.toolSlug}@${skill.version}`;
  const answer = call.answer;
  const jobId = answer === undefined ? undefined : /job_[a-z0-9]{26}/.exec(answer.resultJson)?.[0];
  return (
    <Stack>
      <AreaField
        label="Input"
        mono
        value={input}
        onChange={(text) => {
          setInput(text);
          setIdempotencyKey(randomKey());
        }}
        hint={
          skill.accessClass === "destructive"
            ? 'It is destructive: add "confirm": true once you mean it.'
            : "JSON, by what it takes."
        }
      />
      <Line>
        <Button
          kind="primary"
          icon="send"
          onPress={() => call.send({ toolSlug, argumentsJson: input, idempotencyKey })}
          busy={call.isSending ? "Sending" : undefined}
        >
          Call {toolSlug}
        </Button>
      </Line>
      <FaultNotice error={call.error} />
      {answer !== undefined && jobId === undefined && (
        <Notice tone="bad" title={answer.outcome}>
          <p>{answer.message}</p>
        </Notice>
      )}
      {jobId !== undefined && (
        <Notice
          tone="ok"
          title="A job does it"
          actions={
            <Link to="/p/$projectId/jobs/$jobId" params={{ projectId, jobId }} className={buttonClass()}>
              Open the job
            </Link>
          }
        />
      )}
    </Stack>
  );
}
