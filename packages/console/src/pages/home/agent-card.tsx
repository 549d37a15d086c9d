import { SandboxService } from "@svc/gen/sandbox";
import { ToolsService } from "@svc/gen/tools";
import { useState } from "react";
import { useWrite } from "../../calls/write.ts";
import { randomKey } from "../../random.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { CodeBlock, Copyable, copyText } from "../../ui/values/copy.tsx";
import { State } from "../../ui/values/state.tsx";
import { outcomeWord } from "../../words/calls.ts";
import { sampleUser } from "./first-steps.ts";
import { AgentPicture } from "./pictures.tsx";
import styles from "./start.module.css";
import { CardLink, type CardProperties, StartCard } from "./start-card.tsx";

/** A call that the sample agent has made: its tool, the words of its result, and its outcome. */
type PlayedCall = { readonly tool: string; readonly says: string; readonly outcome: string };

/**
 * Draws the card of a new project that shows how to connect an agent: the address for MCP clients. In the sandbox, one press makes three
 * sample calls as an agent would make them.
 */
export function AgentCard({ projectId, start, isDone, onPress }: CardProperties) {
  const [played, setPlayed] = useState<readonly PlayedCall[]>([]);
  const connect = useWrite(SandboxService.method.connectSandboxAccounts);
  const search = useWrite(ToolsService.method.searchTools);
  const call = useWrite(ToolsService.method.callTool);
  const play = async () => {
    onPress();
    setPlayed([]);
    const add = (one: PlayedCall) => setPlayed((before) => [...before, one]);
    await connect.sendAsync({ entityId: sampleUser, toolkitSlugs: ["sales_crm"] });
    const found = await search.sendAsync({ query: "list open deals" });
    add({ tool: "search_tools", says: found.results[0]?.tool?.slug ?? "nothing found", outcome: "ok" });
    const shared = { entityId: sampleUser, idempotencyKey: randomKey() };
    const list = await call.sendAsync({
      ...{ ...shared, toolSlug: "sales_crm.list_deals" },
      argumentsJson: JSON.stringify({ limit: 3 }),
    });
    add({ tool: "sales_crm.list_deals", says: list.resultJson, outcome: list.outcome });
    const held = await call.sendAsync({
      ...{ entityId: sampleUser, toolSlug: "sales_crm.delete_deal" },
      argumentsJson: JSON.stringify({ deal_id: firstId(list.resultJson) }),
    });
    add({ tool: "sales_crm.delete_deal", says: held.message, outcome: held.outcome });
  };
  const isBusy = [connect, search, call].some(({ isSending }) => isSending);
  return (
    <StartCard
      title="Connect an agent"
      icon="plug"
      colour="ask"
      picture={<AgentPicture />}
      says="Any MCP client. It reads freely, and svc asks before it deletes."
      isDone={isDone}
      note="The tick appears with the first call of your own agent."
      result={
        <>
          <Copyable text={start.mcpUrl} what="address" />
          <FaultNotice error={connect.error ?? search.error ?? call.error} />
          {played.map(({ tool, says, outcome }) => (
            <div key={tool} className={styles["row"]}>
              <b>{tool}</b>
              <span className={styles["glance"]}>{says}</span>
              <State word={outcomeWord(outcome)} />
            </div>
          ))}
          <Disclosure summary="Set up a client" flat>
            <Stack>
              {setups(start.mcpUrl).map(({ client, text }) => (
                <div key={client}>
                  <p>{client}</p>
                  <CodeBlock text={text} what={`set-up for ${client}`} />
                </div>
              ))}
            </Stack>
          </Disclosure>
        </>
      }
    >
      {start.sandbox ? (
        <Button
          kind="primary"
          icon="job"
          busy={isBusy ? "Playing" : undefined}
          onPress={() => void play().catch(() => undefined)}
        >
          Watch a sample agent
        </Button>
      ) : (
        <Button kind="primary" icon="copy" onPress={() => void copyText(start.mcpUrl, "address")}>
          Copy the address
        </Button>
      )}
      <CardLink to="/p/$projectId/tools" params={{ projectId }}>
        Browse tools
      </CardLink>
    </StartCard>
  );
}

/** Returns the id of the first row of a list of deals, or 1 if the list is empty. */
function firstId(resultJson: string): number {
  const id = /"id":\s*(\d+)/.exec(resultJson)?.[1];
  return id === undefined ? 1 : Number(id);
}

/** Returns the text that connects each kind of MCP client to an address. */
function setups(url: string): readonly { readonly client: string; readonly text: string }[] {
  const server = { type: "http", url, headers: { Authorization: "Bearer YOUR_KEY" } };
  return [
    {
      client: "Claude Code",
      text: `claude mcp add --transport http svc ${url} --header "Authorization: Bearer YOUR_KEY"`,
    },
    { client: "Cursor", text: JSON.stringify({ mcpServers: { svc: server } }, undefined, 2) },
    { client: "VS Code", text: JSON.stringify({ servers: { svc: server } }, undefined, 2) },
    { client: "Another client", text: `Address: ${url}\nHeader: Authorization: Bearer YOUR_KEY` },
  ];
}
