import type { Tool } from "@svc/gen/catalog";
import { useState } from "react";
import { useDeployment } from "../../../calls/identity.ts";
import { placeFaults, shownFaults } from "../../../form/faults.ts";
import type { ObjectShape } from "../../../form/read-schema.ts";
import { Columns } from "../../../ui/layout/page.tsx";
import { RealmSection } from "../../../ui/layout/realm-section.tsx";
import { Section } from "../../../ui/layout/section.tsx";
import { Stack } from "../../../ui/layout/stack.tsx";
import { FaultNotice } from "../../../ui/notice/fault.tsx";
import type { ToolSearch } from "../filters.ts";
import { ArgumentsField } from "./arguments-field.tsx";
import { EntityField } from "./entity-field.tsx";
import type { KeptInput } from "./kept-input.ts";
import { RequestView } from "./request-view.tsx";
import { ResultView } from "./result-view.tsx";
import { SendButtons } from "./send-buttons.tsx";
import { SnippetsView } from "./snippets-view.tsx";
import { useCallKey, useCheck, useSend } from "./use-calls.ts";
import { useTryInput } from "./use-try.ts";

/** Tries a tool: what is written is checked by the service at every change, and what would be sent is shown before it is. */
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
  search: ToolSearch;
  onChange: (to: ToolSearch) => void;
}) {
  const { isSandbox, publicUrl } = useDeployment();
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
