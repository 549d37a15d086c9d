import type { MessageInitShape } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import type { Tool } from "@svc/gen/catalog";
import { type CallToolRequestSchema, type ToolRequest, ToolsService } from "@svc/gen/tools";
import { keepPreviousData } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useDeployment } from "../../../calls/identity.ts";
import { useSettled } from "../../../clock.ts";
import { placeFaults, shownFaults } from "../../../form/faults.ts";
import type { ObjectShape } from "../../../form/read-schema.ts";
import { randomKey } from "../../../random.ts";
import { SuggestField } from "../../../ui/fields/suggest-field.tsx";
import { Columns } from "../../../ui/layout/page.tsx";
import { RealmSection } from "../../../ui/layout/realm-section.tsx";
import { Section } from "../../../ui/layout/section.tsx";
import { Stack } from "../../../ui/layout/stack.tsx";
import { Tabs } from "../../../ui/layout/tabs.tsx";
import { Skeleton } from "../../../ui/notice/empty.tsx";
import { FaultNotice } from "../../../ui/notice/fault.tsx";
import { CodeBlock } from "../../../ui/values/copy.tsx";
import { prettyJson } from "../../../words/pretty-json.ts";
import { useIsPlayed } from "../catalog.ts";
import type { ToolPageSearch } from "../filters.ts";
import { ArgumentsField } from "./arguments-field.tsx";
import type { KeptInput } from "./kept-input.ts";
import { ResultView, SendButtons } from "./send-buttons.tsx";
import { type SnippetCall, type SnippetKind, snippet, snippetKinds } from "./snippets.ts";
import { type CallCheck, useSend, type WrittenCall } from "./use-calls.ts";
import { type TryInput, useTryInput } from "./use-try.ts";

const settledMs = 250;

/** The name that the page shows for each kind of code example of a call (for example `curl`). */
const snippetWords: Record<SnippetKind, string> = {
  cli: "CLI",
  curl: "curl",
  typescript: "TypeScript",
  mcp: "MCP",
};

/** Outcomes of a check that report a problem with the account. */
const ofAccount: readonly string[] = ["no_account", "account_unusable", "missing_scope"];

/**
 * Draws the field for the entity of a call (the customer or user whose account the call uses). Shows if this entity has an account of the
 * tool's app.
 */
function EntityField({
  projectId,
  tool: { toolkitSlug },
  input: { entity, entities, setEntity },
  check: { answer },
}: {
  projectId: string;
  tool: Tool;
  input: TryInput;
  check: CallCheck;
}) {
  const isAtFault = answer !== undefined && ofAccount.includes(answer.outcome);
  const connect = (
    <Link
      to="/p/$projectId/accounts"
      params={{ projectId }}
      search={{ connect: toolkitSlug, for: entity || undefined }}
    >
      Connect an account
    </Link>
  );
  return (
    <SuggestField
      label="As user"
      value={entity}
      suggestions={entities}
      onChange={setEntity}
      hint={
        <>
          {entities.includes(entity) ? `Has an active account of ${toolkitSlug}.` : connect}
          {isAtFault && entities.includes(entity) && <> {connect}</>}
        </>
      }
      fault={isAtFault ? answer.message : undefined}
    />
  );
}

/**
 * Draws the section that tries a tool. The service checks the input after every change, and the page shows the request before it is sent.
 */
export function TryIt({
  projectId,
  tool,
  shape,
  initial,
  search,
  onChange,
}: {
  projectId: string;
  tool: Tool;
  shape: ObjectShape;
  initial: KeptInput | undefined;
  search: ToolPageSearch;
  onChange: (to: ToolPageSearch) => void;
}) {
  const { publicUrl } = useDeployment();
  const isSandbox = useIsPlayed(projectId, tool.toolkitSlug);
  const input = useTryInput({ projectId, tool, shape, initial, isSandbox });
  const call = { toolSlug: tool.slug, entityId: input.entity, argumentsJson: input.argumentsJson };
  const { key, renew } = useCallKey(call);
  const check = useCheck(call, key, input.fault === undefined);
  const sending = useSend(call, { key, renew, isRead: tool.accessClass === "read" });
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const leave = (pointer: string) => setLeft((old) => new Set([...old, pointer]));
  const faults = placeFaults(shape, input.fault === undefined ? (check.answer?.faults ?? []) : []);
  return (
    <RealmSection title="Try it" isSandbox={isSandbox}>
      <Columns even>
        <Stack>
          <EntityField projectId={projectId} tool={tool} input={input} check={check} />
          <ArgumentsField
            shape={shape}
            input={input}
            faults={shownFaults(faults, left)}
            mode={search.args}
            onMode={(args) => onChange({ args })}
            onLeave={leave}
          />
          <SendButtons
            {...{ tool, input, check, sending, isSandbox }}
            isMarked={left.has("")}
            onMark={() => leave("")}
          />
          <FaultNotice error={sending.error} />
        </Stack>
        <Stack>
          <Section title="What would be sent">
            <RequestView check={check} fault={input.fault} />
          </Section>
          {sending.made !== undefined && <ResultView projectId={projectId} made={sending.made} sending={sending} />}
          <SnippetsView
            kind={search.as ?? "cli"}
            onKind={(kind) => onChange({ as: kind === "cli" ? undefined : kind })}
            call={{ ...call, isDestructive: tool.accessClass === "destructive", url: publicUrl }}
          />
        </Stack>
      </Columns>
    </RealmSection>
  );
}

/**
 * Shows the request of a call exactly as svc would send it, with credentials and sensitive values masked. If there is no request, shows the
 * reason.
 */
function RequestView({ check: { answer, error }, fault }: { check: CallCheck; fault: string | undefined }) {
  if (fault !== undefined) return <p>{fault}</p>;
  if (error !== null && error !== undefined) return <FaultNotice error={error} />;
  // Placeholder while the check runs. It is higher than one line (a missing value) and lower than eight lines (a usual request), so that
  // the rest of the page moves little.
  if (answer === undefined) return <Skeleton rows={4} />;
  if (answer.request !== undefined) return <CodeBlock text={requestText(answer.request)} what="request" />;
  if (answer.outcome === "invalid_arguments") {
    const { length } = answer.faults;
    return (
      <p>{length === 1 ? "Fix one argument to see the request." : `Fix ${length} arguments to see the request.`}</p>
    );
  }
  if (answer.outcome === "ok" || answer.outcome === "held")
    return <p>svc runs this tool itself. No request is sent to an app.</p>;
  return <p>Nothing: {answer.message}</p>;
}

/** Returns a request to an app as svc would send it: request line, headers and body. A JSON body is formatted. */
function requestText({
  method,
  url,
  headers,
  bodyJson,
}: Pick<ToolRequest, "method" | "url" | "headers" | "bodyJson">): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${url}`, ...lines, ...(bodyJson === "" ? [] : ["", prettyJson(bodyJson)])].join("\n");
}

/** Shows the call that the form describes in a format that a user can copy (for example as a `curl` command). */
function SnippetsView({
  kind,
  onKind,
  call,
}: {
  kind: SnippetKind;
  onKind: (kind: SnippetKind) => void;
  call: SnippetCall;
}) {
  return (
    <Section title="The same call">
      <Tabs
        label="The same call"
        selected={kind}
        onSelect={onKind}
        tabs={snippetKinds.map((id) => ({
          id,
          words: snippetWords[id],
          panel: <CodeBlock text={snippet(id, call)} what={`${snippetWords[id]} of the call`} />,
        }))}
      />
    </Section>
  );
}

/** Returns the idempotency key of a call. The key changes after every change of the call, and when the caller calls `renew`. */
function useCallKey(call: WrittenCall): { key: string; renew: () => void } {
  const of = JSON.stringify(call);
  const [made, setMade] = useState(() => ({ of, key: randomKey() }));
  const current = made.of === of ? made : { of, key: randomKey() };
  if (current !== made) setMade(current);
  return { key: current.key, renew: () => setMade({ of, key: randomKey() }) };
}

/**
 * Asks the service which request it would send, 250 ms after the user's last change. The service sends nothing to the app and stores
 * nothing.
 */
function useCheck(call: WrittenCall, idempotencyKey: string, enabled: boolean): CallCheck {
  const now = JSON.stringify({ ...call, idempotencyKey });
  const settled = useSettled(now, settledMs);
  const asked = JSON.parse(settled) as MessageInitShape<typeof CallToolRequestSchema>;
  const query = useQuery(
    ToolsService.method.callTool,
    { ...asked, dryRun: true },
    { enabled, placeholderData: keepPreviousData, retry: false, staleTime: 2_000 },
  );
  return {
    answer: query.data,
    error: query.error,
    isCurrent: enabled && settled === now && !query.isPlaceholderData && !query.isPending,
  };
}
