import { EventDocumentFormat, type EventType, TriggersService } from "@svc/gen/triggers";
import { useNavigate } from "@tanstack/react-router";
import { useRefresh } from "../../calls/write.ts";
import { WriteDialog } from "../../frame/write-dialog.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { prettyJson } from "../../words/pretty-json.ts";

/**
 * A dialog that creates an event type, or changes the existing event type `type`. `onDone` gets the name of the created or changed event
 * type.
 */
export function EventTypeDialog({
  type,
  onDone,
  onClose,
}: {
  type?: EventType;
  onDone?: (name: string) => void;
  onClose: () => void;
}) {
  const refresh = useRefresh(TriggersService);
  const isNew = type === undefined;
  return (
    <WriteDialog
      method={TriggersService.method.putEventType}
      title={isNew ? "New event type" : `Change ${type.name}`}
      fields={{
        name: {
          text: "Name",
          required: true,
          mono: true,
          readOnly: !isNew,
          placeholder: "invoice.paid",
          hint: "Letters, digits, _ and - in parts joined by dots.",
        },
        description: { text: "Description" },
        schemaJson: {
          area: "Schema",
          mono: true,
          hint: "JSON Schema of the payload. Leave it empty to accept every JSON object.",
        },
        sampleJson: { area: "Sample", mono: true, hint: "An example, as JSON. If it is empty, svc makes one." },
        offered: { check: "Offered to customers" },
        breaking: {
          check: "Accept that stored events may not match the schema",
          hint: "Without it, svc refuses a schema that one of the latest 1,000 events does not match.",
          when: () => !isNew,
        },
      }}
      start={{
        ...{ name: type?.name ?? "", description: type?.description ?? "", offered: type?.offered ?? false },
        ...{ schemaJson: prettyJson(type?.schemaJson ?? ""), sampleJson: prettyJson(type?.sampleJson ?? "") },
      }}
      request={(values) => ({
        ...values,
        // A new type is active, also if its name is that of an archived one. So a creation replaces every field.
        updateMask: isNew ? [] : ["description", "schemaJson", "sampleJson", "offered"],
      })}
      placed={["name", "description"]}
      act={isNew ? "Create the event type" : "Save the changes"}
      busy="Saving"
      onClose={onClose}
      done={async ({ eventType: { name = "", version = 0 } = {} }) => {
        announce(`${name} has version ${version}.`);
        onClose();
        await refresh();
        onDone?.(name);
      }}
    />
  );
}

/** A dialog that publishes one event of a type and opens the page of the event. */
export function PublishDialog({
  projectId,
  type,
  onClose,
}: {
  projectId: string;
  type: EventType;
  onClose: () => void;
}) {
  const navigate = useNavigate();
  const refresh = useRefresh(TriggersService);
  return (
    <WriteDialog
      method={TriggersService.method.publishEvent}
      title={`Publish ${type.name}`}
      fields={{
        payloadJson: { area: "Payload", mono: true, tall: true },
        entityId: { text: "User", hint: "Your own id of the customer that the event is about. It may be empty." },
        key: { text: "Key", hint: "Your own id of the event. svc stores a second event with the same key only once." },
      }}
      start={{ payloadJson: prettyJson(type.sampleJson || "{}") }}
      request={(values) => ({ ...values, type: type.name })}
      placed={["entityId", "key"]}
      act="Publish"
      busy="Publishing"
      onClose={onClose}
      done={async ({ eventId }) => {
        announce("Published.");
        onClose();
        await refresh();
        void navigate({ to: "/p/$projectId/events/$eventId", params: { projectId, eventId } });
      }}
    >
      <p>svc stores the event and delivers it to all matching subscriptions.</p>
    </WriteDialog>
  );
}

/**
 * A dialog that downloads the document of the event types: all of them, or the type `name`. `isForCustomer`: true if the reader is a
 * customer of the project.
 */
export function DocumentDialog({
  name,
  isForCustomer = false,
  onClose,
}: {
  name?: string;
  isForCustomer?: boolean;
  onClose: () => void;
}) {
  return (
    <WriteDialog
      method={TriggersService.method.getEventDocument}
      title={name === undefined ? "Download document" : `Download document of ${name}`}
      fields={{
        format: {
          select: "Format",
          options: [
            { value: "openapi", words: "OpenAPI 3.1" },
            { value: "asyncapi", words: "AsyncAPI 3.0" },
          ],
        },
        delivery: {
          select: "Deliveries",
          hint: isForCustomer
            ? "The format of deliveries that your endpoints have."
            : "The format of deliveries that the subscriptions of your customers have.",
          options: [
            { value: "svc", words: isForCustomer ? "Default" : "svc" },
            { value: "standard", words: "Standard Webhooks" },
            { value: "cloudevents", words: "CloudEvents" },
          ],
        },
      }}
      start={{ format: "openapi", delivery: "svc" }}
      request={({ format, delivery }) => ({
        format: format === "openapi" ? EventDocumentFormat.OPENAPI_3_1 : EventDocumentFormat.ASYNCAPI_3,
        ...{ delivery, types: name === undefined ? [] : [name] },
      })}
      act="Download"
      busy="Downloading"
      isTyped={false}
      onClose={onClose}
      done={({ documentJson }, { format }) => {
        saveFile(`${name ?? "events"}.${format}.json`, prettyJson(documentJson));
        announce("Downloaded the document.");
        onClose();
      }}
    >
      <p>
        It describes the event types{!isForCustomer && " for your customers"}: schemas, samples, headers, and how to
        verify a signature.
      </p>
    </WriteDialog>
  );
}

/** Lets the browser save a JSON text as a file. */
function saveFile(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
