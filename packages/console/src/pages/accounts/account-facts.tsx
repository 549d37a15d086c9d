import type { ConnectedAccount } from "@svc/gen/connections";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Section } from "../../ui/layout/section.tsx";
import { Copyable } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { Time } from "../../ui/values/time.tsx";
import { schemeWords } from "../../words/accounts.ts";

/** What is known of an account besides its scopes and references. */
export function AccountFacts({ projectId, account }: { projectId: string; account: ConnectedAccount }) {
  const { id, toolkitSlug, entityId, scheme, accountVariables, expiresAt, createdAt, updatedAt, sandbox } = account;
  const facts: readonly (readonly [string, ReactNode])[] = [
    [
      "Toolkit",
      <Link key="toolkit" to="/p/$projectId/toolkits/$toolkitSlug" params={{ projectId, toolkitSlug }}>
        {toolkitSlug}
      </Link>,
    ],
    ["Entity", entityId === "" ? "none: it is the project's own" : entityId],
    ["By", schemeWords(scheme)],
    ["Runs out", <Time key="expires" at={expiresAt} />],
    ["Used", sandbox ? "in the sandbox alone" : "at the real app alone"],
    ...Object.entries(accountVariables).map(([name, value]) => [name, value] as const),
    ["Connected", <Time key="created" at={createdAt} />],
    ["Changed", <Time key="updated" at={updatedAt} />],
    [
      "Calls",
      <Link key="calls" to="/p/$projectId/calls" params={{ projectId }} search={{ account: id }}>
        its calls in the ledger
      </Link>,
    ],
    ["Id", <Copyable key="id" text={id} what="id" />],
  ];
  return (
    <Section title="Account">
      <Facts facts={facts} />
    </Section>
  );
}
