import type { ToolCall } from "@svc/gen/tools";
import { Link } from "@tanstack/react-router";
import { buttonClass } from "../../ui/buttons/button.tsx";
import { JsonView } from "../../ui/code/json-view.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { outcomeWord } from "../../words/calls.ts";
import { CallFacts } from "./call-facts.tsx";

/** A slug that no tool has: of a request that a program makes itself. */
const ownRequest = "http";

/** What a call was made with, what became of it, and the way to make it again. */
export function CallBody({ projectId, call }: { projectId: string; call: ToolCall }) {
  const { id, toolSlug, jobId, message, outcome, argumentsJson, resultJson, truncated } = call;
  const again = jobId === "" && toolSlug !== ownRequest && (
    <Link
      to="/p/$projectId/tools/$toolSlug"
      params={{ projectId, toolSlug }}
      search={{ from: id }}
      className={buttonClass()}
    >
      Try again
    </Link>
  );
  return (
    <Stack>
      {message !== "" && <Notice tone={outcomeWord(outcome).tone} title={message} />}
      <CallFacts projectId={projectId} call={call} />
      <Section title="Arguments" actions={again}>
        {jobId === "" ? (
          <JsonView text={argumentsJson} label="arguments" />
        ) : (
          <p>The rows of a job stay inside it, and so do the arguments made of them.</p>
        )}
      </Section>
      <Section title="Result">
        {truncated && <Notice tone="info" title="The first 64 KiB: the ledger keeps no more." />}
        {resultJson === "" ? <p>{noResult(call)}</p> : <JsonView text={resultJson} label="result" />}
      </Section>
    </Stack>
  );
}

function noResult({ jobId, outcome }: ToolCall): string {
  if (outcome === "running") return "It is under way.";
  return jobId === "" ? "There is none." : "That of a job's call stays in the job.";
}
