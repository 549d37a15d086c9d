import type { Job, Receipt } from "@svc/gen/jobs";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { JsonView } from "../../ui/code/json-view.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Copyable } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import { decisionWords } from "../../words/asks.ts";
import { outcomeWord } from "../../words/jobs.ts";
import { leftWords } from "./job-words.ts";

/**
 * Draws the receipt (final report) of an ended job: first the result, then the actions, and a hash. The hash verifies a copy of the
 * receipt.
 */
export function ReceiptSection({ job, receipt, projectId }: { job: Job; receipt: Receipt; projectId: string }) {
  const calls = (words: string) => (
    <Link key="calls" to="/p/$projectId/calls" params={{ projectId }} search={{ job: job.id }}>
      {words}
    </Link>
  );
  return (
    <>
      {receipt.resultJson !== "" && (
        <Section title="Result">
          <JsonView text={receipt.resultJson} label="result" />
        </Section>
      )}
      <Section title="Receipt">
        <ReceiptFacts receipt={receipt} calls={calls} />
      </Section>
    </>
  );
}

/** Draws the contents of a job's receipt (its stored summary), except the result. `calls`: draws the number of calls as a link. */
export function ReceiptFacts({
  receipt,
  calls: lead = (words) => words,
}: {
  receipt: Receipt;
  calls?: (words: string) => ReactNode;
}) {
  const { outcome, rows, calls, asks, approvals, saga, lastSeq, receiptHash } = receipt;
  const writes = (calls?.write ?? 0) + (calls?.destructive ?? 0);
  return (
    <Facts
      facts={[
        ["Outcome", <State key="outcome" word={outcomeWord(outcome)} />],
        [
          "Rows",
          rows === undefined || rows.in === 0
            ? undefined
            : [
                `${rows.in.toLocaleString("en")} taken`,
                ...(rows.ok > 0 ? [`${rows.ok.toLocaleString("en")} ok`] : []),
                ...leftWords(rows),
              ].join(", "),
        ],
        ["Calls", calls === undefined ? undefined : lead(callWords(calls.read, writes, calls.retried, calls.unknown))],
        [
          "Questions",
          asks === undefined || asks.raised === 0
            ? undefined
            : `${asks.raised} raised, ${asks.answered} answered, ${asks.defaulted} by the clock`,
        ],
        ...approvals.map(
          ({ stepId, decision }) =>
            [
              stepId === "" ? "Plan" : `Gate ${stepId}`,
              decision === undefined ? "withdrawn" : decisionWords(decision, true),
            ] as const,
        ),
        [
          "Undo",
          saga === undefined || saga.entries === 0
            ? undefined
            : `${saga.done} of ${saga.entries} undone${saga.failed > 0 ? `, ${saga.failed} not` : ""}`,
        ],
        ["Log", `${lastSeq} entries`],
        ["Hash", <Copyable key="hash" text={receiptHash} what="hash" />],
      ]}
    />
  );
}

function callWords(reads: number, writes: number, retried: number, unknown: number): string {
  const words = [`${reads} ${reads === 1 ? "read" : "reads"}`, `${writes} ${writes === 1 ? "write" : "writes"}`];
  if (retried > 0) words.push(`${retried} repeated`);
  if (unknown > 0) words.push(`${unknown} in doubt`);
  return words.join(", ");
}
