import type { ToolCall } from "@svc/gen/tools";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { KeyName } from "../../session/key-name.tsx";
import { buttonClass } from "../../ui/buttons/button.tsx";
import { JsonView } from "../../ui/code/json-view.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { Copyable } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { classWord, outcomeWord } from "../../words/calls.ts";
import { durationWords } from "../../words/time.ts";

/**
 * Text that a call has as its tool slug if the job's program sent the request itself by HTTP, without a tool. Every real tool slug differs
 * from this text.
 */
const ownRequest = "http";

/** Draws the arguments of a call, its result, and the button that makes the call again. */
export function CallBody({ projectId, call }: { projectId: string; call: ToolCall }) {
  const { id, toolSlug, jobId, message, outcome, failure, argumentsJson, resultJson, truncated } = call;
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
      {(failure !== undefined || message !== "") && (
        <Notice tone={outcomeWord(outcome).tone} title={failure?.title ?? message}>
          {failure !== undefined && message !== "" && <p>{message}</p>}
        </Notice>
      )}
      <CallFacts projectId={projectId} call={call} />
      <Section title="Arguments" actions={again}>
        {jobId === "" ? (
          <JsonView text={argumentsJson} label="arguments" />
        ) : (
          <p>Hidden: data inside jobs isn't stored in the log.</p>
        )}
      </Section>
      <Section title="Result">
        {truncated && <Notice tone="info" title="Only the first 64 KiB are stored." />}
        {resultJson === "" ? <p>{noResult(call)}</p> : <JsonView text={resultJson} label="result" />}
      </Section>
    </Stack>
  );
}

function noResult({ jobId, outcome }: ToolCall): string {
  if (outcome === "running") return "No answer yet.";
  return jobId === "" ? "None." : "Hidden: data inside jobs isn't stored in the log.";
}

/**
 * Draws the properties of a tool call (for example its outcome, its time and its tool). The arguments and the result are not among them.
 */
function CallFacts({ projectId, call }: { projectId: string; call: ToolCall }) {
  const { id, toolSlug, accessClass, entityId, connectedAccountId, keyId, idempotencyKey } = call;
  const facts: readonly (readonly [string, ReactNode])[] = [
    [
      "Outcome",
      <Line key="outcome">
        <State word={outcomeWord(call.outcome)} />
        {call.providerStatus !== 0 && <span>the app answered {call.providerStatus}</span>}
      </Line>,
    ],
    ["Time", <Time key="made" at={call.createdAt} />],
    ["Took", tookWords(call)],
    ["Where", call.sandbox ? "Sandbox" : "Real app"],
    ["Tool", toolOf({ projectId, toolSlug })],
    ["Effect", <State key="class" word={classWord(accessClass)} />],
    ["User", entityId === "" ? "none: the call named the account" : entityId],
    ["Account", connectedAccountId === "" ? "none found" : accountOf(projectId, connectedAccountId)],
    ["Job", call.jobId === "" ? undefined : jobOf(projectId, call)],
    ["Key", <KeyName key="key" id={keyId} />],
    ["Idempotency key", idempotencyKey === "" ? undefined : <Copyable key="idem" text={idempotencyKey} what="key" />],
    ["Id", <Copyable key="id" text={id} what="id" />],
  ];
  return <Facts facts={facts} />;
}

function tookWords({ outcome, durationMs, providerMs }: ToolCall): string {
  if (outcome === "running") return "in progress";
  return `${durationWords(durationMs)}, the app needed ${durationWords(providerMs)}`;
}

function toolOf({ projectId, toolSlug }: { projectId: string; toolSlug: string }) {
  return (
    <Link to="/p/$projectId/tools/$toolSlug" params={{ projectId, toolSlug }}>
      {toolSlug}
    </Link>
  );
}

function accountOf(projectId: string, accountId: string) {
  return (
    <Link to="/p/$projectId/accounts/$accountId" params={{ projectId, accountId }}>
      <code>{accountId}</code>
    </Link>
  );
}

function jobOf(projectId: string, { jobId, stepId }: ToolCall) {
  return (
    <>
      <Link to="/p/$projectId/jobs/$jobId" params={{ projectId, jobId }}>
        <code>{jobId}</code>
      </Link>
      , step {stepId}
    </>
  );
}
