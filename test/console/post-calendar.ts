import type { TestServer } from "@svc/testing/server";

/** Webhook secret of the calendar in every service of the console tests. */
export const calendarSecret = "hook-secret-of-the-console-tests";

let posted = 0;

/** Posts a change of a calendar, as the app does. `state` is the state that the app reports for the resource. */
export async function postCalendar(svc: TestServer, { channel = "channel-1", state = "exists" } = {}): Promise<void> {
  posted += 1;
  const response = await fetch(`${svc.url}/webhooks/calendar?token=${calendarSecret}`, {
    method: "POST",
    headers: {
      "x-calendar-channel-id": channel,
      "x-calendar-message-number": String(posted),
      "x-calendar-resource-id": "resource-1",
      "x-calendar-resource-state": state,
      "x-calendar-resource-uri": "https://calendar.example/calendar/v3/calendars/primary/events?alt=json",
    },
  });
  if (response.status !== 202) throw new Error(`the post was answered ${response.status}: ${await response.text()}`);
}
