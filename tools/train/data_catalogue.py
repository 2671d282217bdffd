# SPDX-License-Identifier: Apache-2.0
"""Tools as people write them: natural requests with slots, results, and what is said about them."""

import dataclasses

from . import data_words as words


@dataclasses.dataclass(frozen=True)
class Entry:
    """requests name every required argument; `slots` says how values are drawn; names and requests are split."""

    names: tuple
    description: str
    subject: str
    schemas: dict
    slots: dict
    requests: tuple
    optional: frozenset = frozenset()
    result: dict = None
    reply: str = None


def slot(dice, kind):
    """A value of a kind."""
    if isinstance(kind, tuple):
        return dice.between(*kind) if type(kind[0]) is int else dice.pick(kind)
    return {
        "city": lambda: dice.part(words.CITIES), "name": lambda: dice.part(words.NAMES), "food": lambda: dice.part(words.FOODS),
        "thing": lambda: dice.part(words.THINGS), "room": lambda: dice.part(words.ROOMS), "language": lambda: dice.part(words.LANGUAGES),
        "word": dice.word, "code": dice.code, "day": lambda: dice.part(words.DAYS), "animal": lambda: dice.part(words.ANIMALS),
        "colour": lambda: dice.part(words.COLOURS), "email": lambda: f"{dice.part(words.NAMES).lower()}@{dice.word()}.com",
        "time": lambda: f"{dice.between(0, 23)}:{dice.pick(('00', '15', '30', '45'))}",
        "date": lambda: f"20{dice.between(20, 35)}-{dice.between(1, 12):02}-{dice.between(1, 28):02}",
        "phrase": lambda: f"the {dice.part(words.ADJECTIVES)} {dice.part(words.ANIMALS)} and the {dice.part(words.THINGS)}",
        "sky": lambda: dice.pick(("sunny", "cloudy", "rainy", "windy", "snowy")),
        "price": lambda: dice.number(1, 900) + dice.pick((0.5, 0.99, 0.25)), "big": lambda: dice.number(100, 99999),
        "names": lambda: dice.parts(words.NAMES, dice.between(1, 3)), "expression": lambda: f"{dice.number(10, 99)} {dice.pick('+-*')} {dice.number(10, 99)}",
    }[kind]()  # fmt: skip


def _s(description=None, **more):
    return {"type": "string", **({"description": description} if description else {}), **more}


_INT, _BOOL, _NUM = {"type": "integer"}, {"type": "boolean"}, {"type": "number"}
_UNITS = ("celsius", "fahrenheit")

CATALOGUE = (
    Entry(("get_weather", "weather", "current_weather", "getWeather", "fetch_weather"), "Get the current weather for a city", "know the weather", {"city": _s("The name of the city")}, {"city": "city"},
          ("What is the weather in {city}?", "How is the weather in {city}?", "Weather in {city}?", "Tell me the weather for {city}.", "What's the weather like in {city} today?", "Is it raining in {city}?", "Check the weather in {city}, please.", "Do I need an umbrella in {city}?", "Show me the weather of {city}", "How warm is it in {city}?", "I am in {city}. How is the weather?", "Can you look up the weather in {city}?"),
          result={"temperature": (-9, 35), "sky": "sky"}, reply="In {city} it is {sky} at {temperature} degrees."),
    Entry(("get_weather", "get_current_weather", "weather_at", "weather_lookup"), "Get the current weather for a location", "know the weather", {"location": _s("City"), "unit": _s(enum=list(_UNITS))}, {"location": "city", "unit": _UNITS},
          ("What is the weather in {location} in {unit}?", "Weather in {location}?", "Temperature in {location} in {unit}, please.", "How warm is it in {location}, in {unit}?", "Give me the weather for {location}", "What's the weather like in {location}?", "Show the weather in {location} in degrees {unit}.", "Weather for {location}, please."), frozenset({"unit"}),
          {"temperature": (-9, 90), "sky": "sky"}, "It is {sky} at {temperature} degrees in {location}."),
    Entry(("send_email", "email", "mail_send", "sendEmail"), "Send an e-mail", "send an e-mail", {"to": _s("Address"), "subject": _s()}, {"to": "email", "subject": "phrase"},
          ("Send an email to {to} about {subject}.", "Email {to}, subject: {subject}", "Write to {to} with the subject {subject}.", "Mail {to} about {subject}", "Please send {to} an email titled {subject}.", "Send a mail with subject {subject} to {to}", "Can you email {to} about {subject}?", "I need to mail {to}; the subject is {subject}."), frozenset(),
          {"id": "code"}, "The e-mail to {to} was sent as {id}."),
    Entry(("search", "web_search", "search_web", "find"), "Search the web", "search the web", {"query": _s(), "limit": _INT}, {"query": "phrase", "limit": (1, 20)},
          ("Search for {query}.", "Find {limit} results about {query}.", "Look up {query}", "Search the web for {query}, at most {limit} results.", "Give me {limit} pages on {query}", "I want to read about {query}.", "Google {query} for me.", "Search {query} and show {limit} hits."), frozenset({"limit"}),
          {"title": "word", "hits": "big"}, "There are {hits} hits; the first is {title}."),
    Entry(("calculate", "calculator", "compute", "eval_expression"), "Evaluate an arithmetic expression", "calculate something", {"expression": _s("For example 2 + 3")}, {"expression": "expression"},
          ("Calculate {expression}.", "What is {expression}?", "Compute {expression}", "How much is {expression}?", "Please work out {expression}.", "I need the value of {expression}", "Solve {expression}", "Use the calculator for {expression}."), frozenset(),
          {"value": "big"}, "{expression} is {value}."),
    Entry(("set_timer", "start_timer", "timer", "timer_set"), "Start a timer", "start a timer", {"minutes": _INT, "label": _s()}, {"minutes": (1, 90), "label": "food"},
          ("Set a timer for {minutes} minutes.", "Timer: {minutes} minutes for the {label}.", "Start a {minutes} minute timer", "Remind me in {minutes} minutes about the {label}.", "Wake me in {minutes} minutes.", "Set a {label} timer for {minutes} minutes", "Count down {minutes} minutes, please.", "I need a timer of {minutes} minutes called {label}."), frozenset({"label"}),
          {"ends": "time"}, "The timer of {minutes} minutes ends at {ends}."),
    Entry(("translate", "translate_text", "translator", "do_translation"), "Translate text", "translate a text", {"text": _s(), "language": _s("Target language")}, {"text": "phrase", "language": "language"},
          ("Translate \"{text}\" into {language}.", "How do you say \"{text}\" in {language}?", "{text} in {language}, please", "Put \"{text}\" into {language}.", "I need \"{text}\" in {language}.", "Translate to {language}: {text}", "What is {language} for \"{text}\"?", "Say \"{text}\" in {language}."), frozenset(),
          {"translation": "word"}, "In {language} that is {translation}."),
    Entry(("turn_on_light", "light_on", "switch_light", "set_light"), "Switch the light of a room", "switch a light", {"room": _s(), "on": _BOOL}, {"room": "room", "on": (True, False)},
          ("Set the light in the {room} to {on}.", "Light in the {room}: {on}", "{room} light {on}, please.", "Switch the {room} light to {on}.", "Please make the light of the {room} {on}.", "Lights {on} in the {room}", "I want the {room} light {on}", "The {room} light should be {on}."), frozenset(),
          {"state": ("on", "off")}, "The light in the {room} is now {state}."),
    Entry(("create_event", "add_event", "calendar_add", "new_event"), "Create a calendar event", "create an event", {"title": _s(), "date": _s("YYYY-MM-DD"), "time": _s()}, {"title": "phrase", "date": "date", "time": "time"},
          ("Create an event on {date} at {time}: {title}.", "Put {title} into my calendar on {date}.", "Add {title} on {date} at {time}", "Schedule {title} for {date}, {time}.", "Calendar: {title}, {date}", "I have {title} on {date} at {time}; note it down.", "New event {title} on {date}.", "Enter {title} on {date} at {time}, please."), frozenset({"time"}),
          {"id": "code"}, "The event was created as {id}."),
    Entry(("book_flight", "flight_booking", "reserve_flight", "bookFlight"), "Book a flight", "book a flight", {"from": _s(), "to": _s(), "seats": _INT}, {"from": "city", "to": "city", "seats": (1, 9)},
          ("Book a flight from {from} to {to} for {seats} people.", "I want to fly from {from} to {to}.", "{seats} seats from {from} to {to}, please.", "Flight {from} to {to}", "Get me from {from} to {to} by plane.", "Reserve {seats} seats on a flight from {from} to {to}", "Fly me to {to} from {from}.", "Please book {seats} tickets from {from} to {to}."), frozenset({"seats"}),
          {"flight": "code", "price": "price"}, "Flight {flight} from {from} to {to} is booked for {price} euros."),
    Entry(("get_price", "stock_price", "quote", "price_of"), "Get the price of a product", "know a price", {"product": _s()}, {"product": "thing"},
          ("How much is a {product}?", "What does the {product} cost?", "Price of the {product}?", "Tell me the price of the {product}.", "What is the price of a {product}", "How expensive is the {product}?", "Look up what a {product} costs.", "The {product}: how much?"), frozenset(),
          {"price": "price"}, "The {product} costs {price} euros."),
    Entry(("add_contact", "save_contact", "new_contact", "contact_create"), "Save a contact", "save a contact", {"name": _s(), "phone": _s()}, {"name": "name", "phone": ("555-0100", "555-0142", "555-0177", "555-0199", "555-0123")},
          ("Save {name}, phone {phone}.", "Add {name} with number {phone} to my contacts.", "New contact: {name}, {phone}", "{name}'s phone is {phone}. Save it.", "Remember that {name} has the number {phone}.", "Store the contact {name} ({phone})", "Put {name} {phone} into the contacts.", "Please save the number {phone} for {name}."), frozenset(),
          {"contacts": (1, 300)}, "{name} is saved; you have {contacts} contacts."),
    Entry(("send_message", "message_people", "text_friends", "notify"), "Send a message to people", "send a message", {"people": {"type": "array", "items": {"type": "string"}}, "text": _s()}, {"people": "names", "text": "phrase"},
          ("Tell {people}: {text}", "Send {people} the message \"{text}\".", "Message {people}: {text}", "Let {people} know: \"{text}\"", "Write \"{text}\" to {people}.", "Text {people} that {text}", "Notify {people}: {text}", "Inform {people}: {text}"), frozenset(),
          {"sent": (1, 3)}, "Messages sent: {sent}."),
    Entry(("get_time", "current_time", "clock", "time_in"), "Get the current time in a city", "know the time", {"city": _s()}, {"city": "city"},
          ("What time is it in {city}?", "Time in {city}?", "Tell me the time in {city}.", "How late is it in {city}?", "What's the time in {city} now?", "Current time for {city}, please", "Is it night in {city}? Check the time.", "Which time do they have in {city}?"), frozenset(),
          {"time": "time"}, "It is {time} in {city}."),
    Entry(("play_music", "play_song", "music", "play"), "Play music", "play music", {"artist": _s(), "volume": {"type": "integer", "minimum": 0, "maximum": 100}}, {"artist": "word", "volume": (0, 100)},
          ("Play {artist}.", "Play {artist} at volume {volume}.", "I want to hear {artist}", "Music by {artist}, volume {volume}, please.", "Put on {artist}.", "Play something by {artist} at {volume}", "Start {artist} with volume {volume}.", "Let me listen to {artist} at volume {volume}"), frozenset({"volume"}),
          {"song": "word"}, "Now playing {song} by {artist}."),
    Entry(("set_temperature", "heat_room", "thermostat", "set_heating"), "Set the temperature of a room", "set the temperature", {"room": _s(), "degrees": _NUM}, {"room": "room", "degrees": (14.5, 18.5, 19.5, 20.5, 21, 22, 22.5, 23)},
          ("Set the {room} to {degrees} degrees.", "Heat the {room} to {degrees}.", "Make it {degrees} degrees in the {room}", "{degrees} degrees in the {room}, please.", "I want {degrees} degrees in the {room}.", "Thermostat of the {room}: {degrees}", "Temperature {degrees} for the {room}", "Warm the {room} up to {degrees} degrees."), frozenset(),
          {"now": (12, 25)}, "The {room} has {now} degrees and is set to {degrees}."),
    Entry(("order_food", "food_order", "place_order", "orderFood"), "Order food", "order food", {"dish": _s(), "quantity": _INT, "express": _BOOL}, {"dish": "food", "quantity": (1, 9), "express": (True, False)},
          ("Order {quantity} {dish}.", "I want {quantity} portions of {dish}.", "{quantity} times {dish}, please", "Get me {quantity} {dish}.", "Please order {dish}, quantity {quantity}, express {express}.", "Order {dish}: {quantity}, express: {express}", "We are hungry: {quantity} {dish}!", "Food: {quantity} {dish}, express {express}"), frozenset({"express"}),
          {"order": "code", "minutes": (10, 60)}, "Order {order} for {dish} arrives in {minutes} minutes."),
    Entry(("read_file", "open_file", "cat_file", "file_read"), "Read a file", "read a file", {"path": _s("Path of the file")}, {"path": ("README.md", "src/main.cc", "notes.txt", "docs/api.md", "config.json", "/etc/hosts", "data/log.csv", "main.py")},
          ("Read {path}.", "Show me {path}", "What is in {path}?", "Open the file {path}.", "Print {path}, please.", "cat {path}", "Let me see {path}.", "Display the contents of {path}"), frozenset(),
          {"lines": (1, 900)}, "{path} has {lines} lines."),
)  # fmt: skip
