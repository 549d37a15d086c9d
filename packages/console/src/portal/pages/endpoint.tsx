import { useQuery } from "@connectrpc/connect-query";
import { type Subscription, TriggersService } from "@svc/gen/triggers";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useContext, useState } from "react";
import { useRefresh, useWrite } from "../../calls/write.ts";
import { useNow } from "../../clock.ts";
import { WriteDialog } from "../../frame/write-dialog.tsx";
import { SigningSecret } from "../../pages/subscriptions/signing-secret.tsx";
import { TestDelivery } from "../../pages/subscriptions/test-delivery.tsx";
import { Button, buttonClass } from "../../ui/buttons/button.tsx";
import { Columns, Page, SiteName } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { credentialsWords, filterFaultWords } from "../../words/subscriptions.ts";
import { useCanChange } from "../customer.ts";
import { EndpointDeliveries } from "../endpoint-deliveries.tsx";
import { EndpointReplays } from "../endpoint-replays.tsx";
import { canActivate, endpointFormat, endpointSentence, endpointWord, receivedTypes } from "../words.ts";

const lookMs = 3_000;

/** Draws one endpoint: its health, its deliveries, its replays and its secret, and the buttons that change it. */
export default function EndpointPage() {
  const { projectId = "", subscriptionId = "" } = useParams({ strict: false });
  const canChange = useCanChange();
  const project = useContext(SiteName);
  const query = useQuery(TriggersService.method.getSubscription, { id: subscriptionId }, { refetchInterval: lookMs });
  const found = query.data?.subscription;
  return (
    <Page
      title={found?.endpointUrl ?? "Endpoint"}
      state={found !== undefined && <State word={endpointWord(found, project)} />}
      back={
        <Link to="/p/$projectId/subscriptions" params={{ projectId }}>
          Endpoints
        </Link>
      }
      actions={found !== undefined && canChange && <Actions projectId={projectId} endpoint={found} />}
    >
      <FaultNotice error={query.error} onRetry={() => void query.refetch()} />
      {query.isPending && <Skeleton rows={4} />}
      {found !== undefined && (
        <Columns>
          <Stack>
            <Health endpoint={found} />
            {canChange && <TestDelivery projectId={projectId} subscription={found} />}
            <EndpointDeliveries projectId={projectId} endpoint={found} />
            <EndpointReplays endpoint={found} />
          </Stack>
          <Stack>
            <EndpointFacts endpoint={found} />
            <SigningSecret subscription={found} canReplace={canChange} />
          </Stack>
        </Columns>
      )}
    </Page>
  );
}

function Health({ endpoint }: { endpoint: Subscription }) {
  const now = useNow();
  const project = useContext(SiteName);
  const { health } = endpoint;
  const { tone, icon } = endpointWord(endpoint, project);
  const faults = health?.filterFaults ?? 0;
  return (
    <>
      <Notice tone={tone} icon={icon} title={endpointSentence(endpoint, project, now)}>
        {(health?.pendingDeliveries ?? 0) > 0 && (
          <p>{`Deliveries that wait: ${health?.pendingDeliveries.toLocaleString("en")}.`}</p>
        )}
      </Notice>
      {faults > 0 && <Notice tone="warn" title={filterFaultWords(faults, true)} />}
    </>
  );
}

function EndpointFacts({ endpoint }: { endpoint: Subscription }) {
  const { description, match, credentials, createdAt, health } = endpoint;
  return (
    <Section title="Endpoint">
      <Facts
        facts={[
          ["Description", description || undefined],
          ["Receives", receivedTypes(endpoint)],
          ["Filter", match?.filter ? <code key="filter">{match.filter}</code> : undefined],
          ["Format", endpointFormat(endpoint)],
          ["Headers and authentication", credentialsWords(credentials)],
          [
            "Last success",
            health?.lastSuccessAt === undefined ? "none yet" : <Time key="last" at={health.lastSuccessAt} />,
          ],
          ["Created", <Time key="created" at={createdAt} />],
        ]}
      />
    </Section>
  );
}

function Actions({ projectId, endpoint }: { projectId: string; endpoint: Subscription }) {
  const { id, active, inactiveReason } = endpoint;
  const [isDeleting, setDeleting] = useState(false);
  const refresh = useRefresh(TriggersService);
  const update = useWrite(TriggersService.method.updateSubscription, {
    onSuccess: (_, { paused }) => {
      announce(paused === true ? "Paused." : paused === false ? "Resumed." : "Turned on.");
      return refresh();
    },
  });
  const busy = update.isSending ? "Sending" : undefined;
  return (
    <>
      {active && (
        <Button icon="pause" busy={busy} onPress={() => update.send({ id, paused: true })}>
          Pause
        </Button>
      )}
      {inactiveReason === "paused" && canActivate(endpoint) && (
        <Button kind="primary" icon="play" busy={busy} onPress={() => update.send({ id, paused: false })}>
          Resume
        </Button>
      )}
      {!active && inactiveReason !== "paused" && canActivate(endpoint) && (
        <Button kind="primary" icon="play" busy={busy} onPress={() => update.send({ id, active: true })}>
          Turn on
        </Button>
      )}
      <Link
        to="/p/$projectId/subscriptions/$subscriptionId/change"
        params={{ projectId, subscriptionId: id }}
        className={buttonClass()}
      >
        Change
      </Link>
      <Button kind="danger" onPress={() => setDeleting(true)}>
        Delete
      </Button>
      <FaultNotice error={update.error} />
      {isDeleting && <DeleteDialog projectId={projectId} endpoint={endpoint} onClose={() => setDeleting(false)} />}
    </>
  );
}

function DeleteDialog({
  projectId,
  endpoint: { id, endpointUrl, health },
  onClose,
}: {
  projectId: string;
  endpoint: Subscription;
  onClose: () => void;
}) {
  const navigate = useNavigate();
  const refresh = useRefresh(TriggersService);
  const pending = health?.pendingDeliveries ?? 0;
  return (
    <WriteDialog
      method={TriggersService.method.deleteSubscription}
      title="Delete this endpoint?"
      fields={{}}
      request={() => ({ id })}
      keep="Cancel"
      act="Delete it"
      kind="danger"
      onClose={onClose}
      done={async () => {
        announce("The endpoint was deleted.");
        await navigate({ to: "/p/$projectId/subscriptions", params: { projectId } });
        await refresh();
      }}
    >
      <p>
        Nothing is sent to {endpointUrl} any more
        {pending > 0 && `, and ${pending.toLocaleString("en")} waiting deliveries are not sent`}. Its signing secret is
        deleted, too.
      </p>
    </WriteDialog>
  );
}
