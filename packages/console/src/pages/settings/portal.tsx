import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { type EventSettings, type PortalLink, TriggersService, UnknownEventTypes } from "@svc/gen/triggers";
import { useState } from "react";
import { useApproverWhy } from "../../calls/identity.ts";
import { useRows } from "../../calls/rows.ts";
import { useRefresh, useWrite } from "../../calls/write.ts";
import { WriteDialog } from "../../frame/write-dialog.tsx";
import { Button } from "../../ui/buttons/button.tsx";
import { ConfirmButton } from "../../ui/buttons/confirm-button.tsx";
import { FileDrop } from "../../ui/fields/file-drop.tsx";
import { Item, Items } from "../../ui/layout/items.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { Empty, Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { SecretMade } from "../../ui/overlay/secret-made.tsx";
import { ListStates, LoadMore } from "../../ui/rows/list-states.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { Time } from "../../ui/values/time.tsx";

/** Draws the look of the portal, in which customers manage their own endpoints, and the links that open it. */
export function Portal({ projectId }: { projectId: string }) {
  const why = useApproverWhy(projectId);
  const [isChanging, setChanging] = useState(false);
  const found = useQuery(TriggersService.method.getEventSettings, {});
  const settings = found.data?.settings;
  return (
    <Stack>
      <Section
        title="Portal"
        actions={
          <Button why={why} onPress={() => setChanging(true)}>
            Change
          </Button>
        }
      >
        <FaultNotice error={found.error} onRetry={() => void found.refetch()} />
        {found.isPending && <Skeleton rows={4} />}
        {settings !== undefined && <Facts facts={factsOf(settings)} />}
        {isChanging && settings !== undefined && (
          <SettingsDialog settings={settings} onClose={() => setChanging(false)} />
        )}
      </Section>
      <Links />
    </Stack>
  );
}

function factsOf({ portal, unknownTypes }: EventSettings): readonly (readonly [string, string])[] {
  return [
    ["Name", portal?.name || "that of the project"],
    ["Color", portal?.color || "that of the console"],
    ["Logo", logoWords(portal?.logo)],
    ["Embedded by", portal?.origins.join(", ") || "no site"],
    ["Events of an unknown type", unknownTypes === UnknownEventTypes.CREATE ? "create the type" : "are refused"],
  ];
}

function logoWords(logo: Uint8Array | undefined): string {
  return logo === undefined || logo.length === 0 ? "none" : `an image of ${Math.ceil(logo.length / 1_024)} KiB`;
}

/** Draws the dialog that changes the settings for the project's own events and the look of its portal. */
function SettingsDialog({
  settings: { portal, unknownTypes },
  onClose,
}: {
  settings: EventSettings;
  onClose: () => void;
}) {
  const refresh = useRefresh(TriggersService);
  const [logo, setLogo] = useState(portal?.logo ?? new Uint8Array());
  const take = async (file: File | undefined) => {
    if (file !== undefined) setLogo(new Uint8Array(await file.arrayBuffer()));
  };
  return (
    <WriteDialog
      method={TriggersService.method.putEventSettings}
      title="Change the portal"
      fields={{
        name: { text: "Name", hint: "At most 60 characters. Leave it empty for the name of the project." },
        color: {
          text: "Color",
          mono: true,
          placeholder: "#1a73e8",
          hint: "Leave it empty for the color of the console.",
        },
        origins: {
          text: "Sites that may embed it",
          mono: true,
          hint: "Addresses separated by commas, such as https://app.example.com. Leave it empty if no site may.",
        },
        creates: {
          check: "Events of an unknown type create the type",
          hint: "If it is off, svc refuses such events.",
        },
      }}
      start={{
        ...{ name: portal?.name ?? "", color: portal?.color ?? "", origins: portal?.origins.join(", ") ?? "" },
        creates: unknownTypes === UnknownEventTypes.CREATE,
      }}
      request={({ name, color, origins, creates }) => ({
        settings: {
          unknownTypes: creates ? UnknownEventTypes.CREATE : UnknownEventTypes.REFUSE,
          portal: { name, color, logo, origins: origins.split(/[\s,]+/).filter((origin) => origin !== "") },
        },
      })}
      act="Save the changes"
      busy="Saving"
      onClose={onClose}
      done={async () => {
        announce("The portal is changed.");
        onClose();
        await refresh();
      }}
    >
      <FileDrop accept=".png,.jpg,.jpeg,.webp" takesFolders={false} isBelow onFiles={([one]) => void take(one?.file)}>
        <Line apart>
          <span>Logo: {logoWords(logo)}</span>
          {logo.length > 0 && <Button onPress={() => setLogo(new Uint8Array())}>Remove the logo</Button>}
        </Line>
      </FileDrop>
    </WriteDialog>
  );
}

const lives = [
  { value: "86400", words: "in 1 day" },
  { value: "3600", words: "in 1 hour" },
  { value: "604800", words: "in 7 days" },
  { value: "2592000", words: "in 30 days" },
];

/** Draws the portal links that have not ended, and the button that creates one. */
function Links() {
  const [isMaking, setMaking] = useState(false);
  const [url, setUrl] = useState("");
  const list = useRows(TriggersService.method.listPortalLinks, { pageSize: 200 }, ({ links }) => links);
  return (
    <Section
      title="Portal links"
      actions={
        <Button icon="plus" onPress={() => setMaking(true)}>
          Create a link
        </Button>
      }
    >
      <ListStates list={list} empty={<NoLinks />}>
        <Items label="Portal links">
          {list.rows.map((link) => (
            <LinkItem key={link.id} link={link} />
          ))}
        </Items>
        <LoadMore list={list} />
      </ListStates>
      {isMaking && <LinkDialog onClose={() => setMaking(false)} onMade={setUrl} />}
      {url !== "" && (
        <SecretMade
          title="The link is created"
          says="Send it only to this customer. Each person who has the link can use it until it expires."
          what="link"
          text={url}
          onClose={() => setUrl("")}
        />
      )}
    </Section>
  );
}

function NoLinks() {
  return (
    <Empty icon="plug" title="No portal links yet">
      <p>
        With a link, a customer manages its own endpoints: it sees its deliveries and the event types that you offer.
      </p>
    </Empty>
  );
}

function LinkItem({ link: { id, entityId, readOnly, createdAt, expiresAt, lastUsedAt } }: { link: PortalLink }) {
  const refresh = useRefresh(TriggersService);
  const revoke = useWrite(TriggersService.method.revokePortalLinks, {
    onSuccess: () => {
      announce(`A link of ${entityId} has ended.`);
      return refresh();
    },
  });
  return (
    <Item
      title={readOnly ? `${entityId}, only for reading` : entityId}
      actions={
        <ConfirmButton
          words="Revoke"
          title={`Revoke this link of ${entityId}?`}
          says="Its open pages are signed out at their next call. The endpoints of the customer stay."
          confirm="Revoke the link"
          busy="Revoking"
          act={() => revoke.sendAsync({ linkId: id })}
        />
      }
    >
      created <Time at={createdAt} />, last used <Time at={lastUsedAt} />, expires <Time at={expiresAt} />
    </Item>
  );
}

/** Draws the dialog that creates a portal link. `onMade` gets the address of the created link. */
function LinkDialog({ onMade, onClose }: { onMade: (url: string) => void; onClose: () => void }) {
  const refresh = useRefresh(TriggersService);
  return (
    <WriteDialog
      method={TriggersService.method.createPortalLink}
      title="Create a portal link"
      fields={{
        entityId: {
          text: "User",
          required: true,
          autoComplete: "off",
          hint: "Your own id of the customer, which your events have as entityId.",
        },
        expiresIn: { select: "It expires", options: lives },
        readOnly: { check: "Only for reading", hint: "The customer can then change and send nothing." },
      }}
      start={{ expiresIn: "86400" }}
      request={({ entityId, expiresIn, readOnly }) => ({
        ...{ entityId, readOnly },
        expiresIn: durationFromMs(Number(expiresIn) * 1_000),
      })}
      placed={["entityId"]}
      act="Create the link"
      busy="Creating"
      isSecret
      onClose={onClose}
      done={async ({ url }) => {
        onClose();
        onMade(url);
        await refresh();
      }}
    />
  );
}
