import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { answerFindings, type Finding, testFindings } from "@svc/core/app-check";
import { CatalogService } from "@svc/gen/catalog";
import { type ConnectedAccount, ConnectionsService } from "@svc/gen/connections";
import { ToolsService } from "@svc/gen/tools";
import { useQuery } from "@tanstack/react-query";
import { Button } from "../../ui/buttons/button.tsx";
import { Item, Items } from "../../ui/layout/items.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { State } from "../../ui/values/state.tsx";
import { visible } from "../../words/text.ts";
import { counted, findingWord, partWords } from "../../words/toolkits.ts";

/**
 * Checks with two reads of a connected account that the real app answers as the definition of its toolkit says, and draws one line for each
 * part of the app. The check runs when the component is first drawn, and again when the user presses its button.
 */
export function AppCheck({ projectId, account }: { projectId: string; account: ConnectedAccount }) {
  const transport = useTransport();
  const { id, toolkitSlug, entityId } = account;
  const check = useQuery({
    queryKey: ["app-check", id],
    queryFn: async () => {
      const { spec } = await callUnaryMethod(transport, CatalogService.method.getToolkitConnectSpec, {
        ...{ slug: toolkitSlug, projectId },
      });
      const test = await callUnaryMethod(transport, ConnectionsService.method.testConnection, { id });
      const findings = [...testFindings(spec?.baseUrlTemplate ?? "", test)];
      if (test.outcome === "works") {
        const slug = test.toolSlug;
        const { tool } = await callUnaryMethod(transport, CatalogService.method.getTool, { slug, projectId });
        const call = { toolSlug: slug, argumentsJson: "{}", entityId, connectedAccountId: id };
        findings.push(...answerFindings(tool, await callUnaryMethod(transport, ToolsService.method.callTool, call)));
      }
      announce(verdictOf(findings));
      return findings;
    },
    // The check asks the real app, so it runs only when the user wants it. Static: also not when other parts read all their data again.
    ...{ staleTime: "static", gcTime: 0, retry: false },
  });
  return (
    <Stack>
      <FaultNotice error={check.error} />
      {check.isPending && <Skeleton rows={5} />}
      {check.data !== undefined && <Findings findings={check.data} />}
      <p>
        The check asks {toolkitSlug} twice with the account of {visible(entityId)}, and changes nothing there.
      </p>
      <Line>
        <Button icon="replay" busy={check.isFetching ? "Checking" : undefined} onPress={() => void check.refetch()}>
          Check again
        </Button>
      </Line>
    </Stack>
  );
}

function Findings({ findings }: { findings: readonly Finding[] }) {
  return (
    <>
      <Notice tone={findings.every(({ isGood }) => isGood) ? "ok" : "bad"} title={verdictOf(findings)} />
      <Items label="Check of the app">
        {findings.map(({ part, isGood, says }) => (
          <Item
            key={part}
            title={
              <>
                <State word={findingWord(isGood)} />
                {partWords[part].title}
              </>
            }
          >
            <p>{visible(says)}</p>
            {!isGood && <p>{partWords[part].cure}</p>}
          </Item>
        ))}
      </Items>
    </>
  );
}

function verdictOf(findings: readonly Finding[]): string {
  const wrong = findings.filter(({ isGood }) => !isGood).length;
  return wrong === 0 ? "The app works as its definition says." : `${counted(wrong, "part")} of the app to correct.`;
}
