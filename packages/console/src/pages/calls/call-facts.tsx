import type { ToolCall } from "@svc/gen/tools";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { KeyName } from "../../session/key-name.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { Copyable } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { classWord, outcomeWord } from "../../words/calls.ts";
import { durationWords } from "../../words/time.ts";

/** What is known of a call besides its arguments and its result. */
export function CallFacts({ projectId, call }: { projectId: string; call: ToolCall }) {
  const { id, toolSlug, accessClass, entityId, connectedAccountId, keyId, idempotencyKey } = call;
  const facts: readonly (readonly [string, ReactNode])[] = [
    [
      "Outcome",
      <Line key="outcome">
        <State word={outcomeWord(call.outcome)} />
        {call.providerStatus !== 0 && <span>the app answered {call.providerStatus}</span>}
      </Line>,
    ],
    ["Made", <Time key="made" at={call.createdAt} />],
    ["Took", tookWords(call)],
    ["Where", call.sandbox ? "in the sandbox" : "at the real app"],
    ["Tool", toolOf({ projectId, toolSlug })],
    ["Class", <State key="class" word={classWord(accessClass)} />],
    ["Entity", entityId === "" ? "none: the call named the account" : entityId],
    ["Account", connectedAccountId === "" ? "none was found" : accountOf(projectId, connectedAccountId)],
    ["Job", call.jobId === "" ? undefined : jobOf(projectId, call)],
    ["Key", <KeyName key="key" id={keyId} />],
    ["Idempotency key", idempotencyKey === "" ? undefined : <Copyable key="idem" text={idempotencyKey} what="key" />],
    ["Id", <Copyable key="id" text={id} what="id" />],
  ];
  return <Facts facts={facts} />;
}

function tookWords({ outcome, durationMs, providerMs }: ToolCall): string {
  if (outcome === "running") return "under way";
  return `${durationWords(durationMs)}, of which the app ${durationWords(providerMs)}`;
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
