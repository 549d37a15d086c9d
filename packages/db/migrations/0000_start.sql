CREATE TABLE "account_references" (
	"toolkit_slug" text NOT NULL,
	"reference" text NOT NULL,
	"project_id" uuid NOT NULL,
	"account_id" uuid NOT NULL,
	"entity_id" text NOT NULL,
	CONSTRAINT "account_references_key" PRIMARY KEY("toolkit_slug","reference")
);
--> statement-breakpoint
CREATE TABLE "api_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"role" text NOT NULL,
	"name" text NOT NULL,
	"digest" "bytea" NOT NULL,
	"hint" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	"last_used_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "deliveries" (
	"project_id" uuid NOT NULL,
	"id" uuid PRIMARY KEY NOT NULL,
	"event_id" uuid NOT NULL,
	"subscription_id" uuid NOT NULL,
	"state" text NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"last_error" text DEFAULT '' NOT NULL,
	"last_attempt_at" timestamp (3) with time zone,
	"next_attempt_at" timestamp (3) with time zone,
	"attempt_log" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"replayed" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE "delivery_tasks" (
	"delivery_id" uuid NOT NULL,
	"project_id" uuid NOT NULL,
	"subscription_id" uuid NOT NULL,
	"event_id" uuid NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"lease_owner" uuid,
	"lease_until" timestamp (3) with time zone,
	CONSTRAINT "delivery_tasks_lane" PRIMARY KEY("subscription_id","due_at","delivery_id")
);
--> statement-breakpoint
CREATE TABLE "events" (
	"project_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"kind" text NOT NULL,
	"toolkit_slug" text NOT NULL,
	"trigger_slug" text NOT NULL,
	"entity_id" text NOT NULL,
	"payload" text NOT NULL,
	"occurred_at" timestamp (3) with time zone NOT NULL,
	"received_at" timestamp (3) with time zone NOT NULL,
	"dedupe_key" text NOT NULL,
	CONSTRAINT "events_key" PRIMARY KEY("project_id","id")
);
--> statement-breakpoint
CREATE TABLE "project_policies" (
	"project_id" uuid PRIMARY KEY NOT NULL,
	"plan_approval" text DEFAULT 'never' NOT NULL,
	"redirect_urls" text[] DEFAULT '{}' NOT NULL
);
--> statement-breakpoint
CREATE TABLE "projects" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"routing_version" bigint DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "quarantined_posts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"toolkit_slug" text NOT NULL,
	"reason" text NOT NULL,
	"detail" text NOT NULL,
	"headers" jsonb NOT NULL,
	"query" jsonb NOT NULL,
	"body" "bytea" NOT NULL,
	"body_bytes" integer NOT NULL,
	"received_at" timestamp (3) with time zone NOT NULL,
	"released_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "routing_state" (
	"id" smallint PRIMARY KEY NOT NULL,
	"version" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "subscriptions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"endpoint_url" text NOT NULL,
	"toolkit_slug" text NOT NULL,
	"trigger_slug" text NOT NULL,
	"active" boolean DEFAULT true NOT NULL,
	"inactive_reason" text DEFAULT '' NOT NULL,
	"signing_secret" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"failing_since" timestamp (3) with time zone,
	"backoff_until" timestamp (3) with time zone,
	"backoff_set_at" timestamp (3) with time zone,
	"backoff_ms" integer DEFAULT 0 NOT NULL,
	"gone_since" timestamp (3) with time zone,
	"gone_count" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "vault_check" (
	"id" smallint PRIMARY KEY NOT NULL,
	"sealed" "bytea" NOT NULL
);
--> statement-breakpoint
ALTER TABLE "account_references" ADD CONSTRAINT "account_references_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_policies" ADD CONSTRAINT "project_policies_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD CONSTRAINT "subscriptions_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "account_references_project" ON "account_references" USING btree ("project_id","account_id");--> statement-breakpoint
CREATE UNIQUE INDEX "api_keys_digest" ON "api_keys" USING btree ("digest");--> statement-breakpoint
CREATE UNIQUE INDEX "api_keys_project" ON "api_keys" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "deliveries_event" ON "deliveries" USING btree ("project_id","event_id","id");--> statement-breakpoint
CREATE INDEX "deliveries_subscription" ON "deliveries" USING btree ("project_id","subscription_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "events_dedupe" ON "events" USING btree ("project_id","trigger_slug","dedupe_key") WHERE dedupe_key <> '';--> statement-breakpoint
CREATE INDEX "events_trigger" ON "events" USING btree ("trigger_slug","project_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "projects_name" ON "projects" USING btree ("name");--> statement-breakpoint
CREATE INDEX "quarantined_posts_toolkit" ON "quarantined_posts" USING btree ("toolkit_slug","id");--> statement-breakpoint
CREATE INDEX "quarantined_posts_held" ON "quarantined_posts" USING btree ("id") WHERE released_at is null;--> statement-breakpoint
CREATE INDEX "subscriptions_project" ON "subscriptions" USING btree ("project_id","id");