CREATE TABLE "failure_groups" (
	"project_id" uuid NOT NULL,
	"day" timestamp (3) with time zone NOT NULL,
	"fingerprint" text NOT NULL,
	"kind" text NOT NULL,
	"count" bigint NOT NULL,
	"hours" integer[] NOT NULL,
	"first_at" timestamp (3) with time zone NOT NULL,
	"last_at" timestamp (3) with time zone NOT NULL,
	"newest_id" uuid NOT NULL,
	"remedies" text[] NOT NULL,
	"title" "bytea" NOT NULL,
	CONSTRAINT "failure_groups_key" PRIMARY KEY("project_id","day","fingerprint")
);
--> statement-breakpoint
CREATE INDEX "failure_groups_day" ON "failure_groups" USING btree ("day");