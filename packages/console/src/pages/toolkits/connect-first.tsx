import { CatalogService } from "@svc/gen/catalog";
import type { InitiateConnectionResponse } from "@svc/gen/connections";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { schemeWords } from "../../words/accounts.ts";
import { Connecting } from "../accounts/connect-dialog.tsx";
import { ConnectForm } from "../accounts/connect-form.tsx";
import { importRequest, type SourceInput } from "./import-request.ts";
import type { FoundSource } from "./use-look.ts";

const noInput = { entityId: "", scheme: "", accountVariables: {} };

/**
 * Draws the steps for an MCP server that lists its tools only to an account: add the toolkit without tools, connect an account, and list
 * the tools with this account.
 */
export function ConnectFirst({
  projectId,
  found: { input, answer },
  onLook,
}: {
  projectId: string;
  found: FoundSource;
  onLook: (to: Partial<SourceInput>) => void;
}) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [begun, setBegun] = useState<InitiateConnectionResponse>();
  const add = useWrite(CatalogService.method.importToolkit, { onSuccess: () => queries.invalidateQueries() });
  // If the form already replaces a toolkit, it was added before.
  const slug = add.answer?.toolkit?.slug ?? (input.replace ? answer.toolkit?.slug : undefined);
  const leave = () =>
    void navigate({
      to: "/p/$projectId/toolkits/$toolkitSlug",
      params: { projectId, toolkitSlug: slug ?? "" },
    });
  const { report, toolkit } = answer;
  return (
    <Section title={toolkit?.name ?? "MCP server"} boxed>
      <Stack>
        <Facts
          facts={[
            ["Format", report?.format],
            ["Address", report?.baseUrl],
            ["Signs in with", toolkit?.authSchemes.map(schemeWords).join(", ")],
          ]}
        />
        <p>This server lists its tools only to a connected account. Connect one, and svc lists the tools with it.</p>
        {slug === undefined ? (
          <Line>
            <Button
              kind="primary"
              icon="plug"
              busy={add.isSending ? "Adding" : undefined}
              onPress={() => add.send(importRequest(input, "mcp"))}
            >
              Add it and connect an account
            </Button>
          </Line>
        ) : begun?.account === undefined ? (
          <ConnectForm projectId={projectId} toolkitSlug={slug} initial={noInput} onBegun={setBegun} />
        ) : (
          <Connecting
            account={begun.account}
            authorizeUrl={begun.authorizeUrl}
            openWords="List the tools"
            onClose={leave}
            onOpen={() => onLook({ slug, replace: true })}
          />
        )}
        <FaultNotice error={add.error} />
      </Stack>
    </Section>
  );
}
