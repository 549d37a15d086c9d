import { useQuery } from "@connectrpc/connect-query";
import { CatalogService, ToolView } from "@svc/gen/catalog";
import type { ConnectedAccount } from "@svc/gen/connections";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { State } from "../../ui/values/state.tsx";
import { scopeWord } from "../../words/accounts.ts";
import { scopesOf } from "./scopes.ts";

/** The scopes of an account: what the tools of its toolkit need against what the app granted. */
export function AccountScopes({ projectId, account }: { projectId: string; account: ConnectedAccount }) {
  const { toolkitSlug, grantedScopes } = account;
  const list = useQuery(CatalogService.method.listTools, { toolkitSlug, projectId, view: ToolView.SUMMARY });
  const { needed, others } = scopesOf(grantedScopes, list.data?.tools ?? []);
  return (
    <Section title="Scopes">
      <FaultNotice error={list.error} onRetry={() => void list.refetch()} />
      {list.isPending && <Skeleton rows={3} />}
      {list.isSuccess && needed.length === 0 && <p>No tool of {toolkitSlug} needs a scope in particular.</p>}
      {list.isSuccess && needed.length > 0 && grantedScopes.length === 0 && (
        <p>The app named no scopes: whether it lets a tool do its work shows when it is called.</p>
      )}
      {grantedScopes.length > 0 && (
        <Stack tight>
          {needed.map(({ scope, tools, isGranted }) => (
            <Line key={scope}>
              <State word={scopeWord(isGranted)} />
              <code>{scope}</code>
              <span>{tools === 1 ? "one tool needs it" : `${tools} tools need it`}</span>
            </Line>
          ))}
          {others.map((scope) => (
            <Line key={scope}>
              <State word={scopeWord(true)} />
              <code>{scope}</code>
              <span>no tool needs it</span>
            </Line>
          ))}
        </Stack>
      )}
    </Section>
  );
}
