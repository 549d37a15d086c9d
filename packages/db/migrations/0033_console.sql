CREATE TABLE "console_links" (
	"id" uuid PRIMARY KEY NOT NULL,
	"digest" "bytea" NOT NULL,
	"purpose" text NOT NULL,
	"target" jsonb NOT NULL,
	"project_id" uuid NOT NULL,
	"key_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"spent_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "console_seats" (
	"session_id" uuid NOT NULL,
	"key_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "console_seats_key" PRIMARY KEY("session_id","key_id")
);
--> statement-breakpoint
CREATE TABLE "console_sessions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"cookie_digest" "bytea" NOT NULL,
	"half_digest" "bytea" NOT NULL,
	"admin_digest" "bytea",
	"user_agent" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"used_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "console_links" ADD CONSTRAINT "console_links_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "console_links" ADD CONSTRAINT "console_links_key_id_api_keys_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."api_keys"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "console_seats" ADD CONSTRAINT "console_seats_session_id_console_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."console_sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "console_seats" ADD CONSTRAINT "console_seats_key_id_api_keys_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."api_keys"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "console_links_digest" ON "console_links" USING btree ("digest");--> statement-breakpoint
CREATE INDEX "console_links_expires" ON "console_links" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "console_seats_of_key" ON "console_seats" USING btree ("key_id","session_id");--> statement-breakpoint
CREATE UNIQUE INDEX "console_sessions_cookie" ON "console_sessions" USING btree ("cookie_digest");--> statement-breakpoint
CREATE INDEX "console_sessions_used" ON "console_sessions" USING btree ("used_at");