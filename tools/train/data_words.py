# SPDX-License-Identifier: Apache-2.0
"""Lists the generator chooses from. Every fourth entry of a list is held out (data_dice.part)."""

NAMES = """Alice Bob Carla David Emma Felix Grace Henry Ivan Julia Karim Laura Marco Nina Oscar Paula Quinn Rosa Simon Tara
Umar Vera Walter Xenia Yusuf Zoe Anna Boris Chen Diego Elena Fatima Georg Hana Igor Jana Kofi Lena Mateo Nora Omar Petra
Rafael Sara Tomas Ursula Victor Wendy Yara Zhang Adam Bella Cyrus Dora Erik Flora Gina Hugo Ines Jonas Kira Liam Maya
Noah Olga Pablo Ruth Sven Tina Uwe Viola Will Ximena Yan Zara Akira Beth Caleb Dana Ethan Fiona Gustav Helen Isaac Jack
Kate Leo Mila Nils Olive Peter Rita Sam Theo Una Vince Wanda Yoko Zack""".split()
CITIES = """Paris London Tokyo Berlin Madrid Rome Oslo Vienna Prague Dublin Lisbon Athens Cairo Delhi Lima Quito Boston Denver
Seattle Chicago Toronto Sydney Seoul Beijing Shanghai Mumbai Dubai Nairobi Lagos Zurich Geneva Milan Naples Lyon Porto
Kyoto Osaka Hanoi Manila Jakarta Helsinki Stockholm Warsaw Krakow Budapest Munich Hamburg Cologne Antwerp Bergen Turin
Havana Bogota Santiago Montreal Austin Dallas Phoenix Portland Perth Auckland Tunis Accra Dakar Riga""".split()
COLOURS = "red blue green yellow black white orange purple brown pink grey gold silver teal violet cyan".split()
FOODS = """pizza pasta rice soup salad bread cheese apples bananas noodles curry sushi tacos pancakes honey chocolate oranges
grapes beans potatoes tomatoes carrots mushrooms cake yoghurt olives peaches plums walnuts dumplings lentils waffles""".split()
ANIMALS = """cat dog horse rabbit parrot turtle hamster goat sheep duck owl fox bear wolf tiger lion whale dolphin eagle frog
snake mouse camel donkey penguin otter badger crow deer goose swan beetle""".split()
THINGS = """lamp door window table chair phone clock camera printer engine pump heater fan radio screen speaker garage gate
boiler oven fridge drone robot server router sensor valve motor mirror bridge tunnel tower ladder basket bottle
carpet curtain drawer shelf mattress pillow blanket kettle toaster blender bicycle scooter tractor truck ferry
train tram canoe anchor lantern candle trumpet violin guitar piano drum flute hammer wrench shovel bucket""".split()
ROOMS = "kitchen bedroom bathroom hall office garden cellar attic garage balcony library studio lobby workshop".split()
VERBS = """open close start stop lock unlock check clean move paint repair rename reset scan send sort update upload
download delete create list find count measure print copy book cancel order pay track watch mute pause resume
archive assign attach calibrate charge compare convert deploy export filter import index inspect label merge
publish query rank refill register remove replace restart rotate schedule share sign split submit sync tag test
translate validate verify weigh""".split()
NOUNS = """file folder order ticket invoice payment report user account message meeting task project server backup image video
song playlist recipe flight hotel room table contact address note document page post comment review product cart
package shipment truck sensor alarm camera light door window thermostat battery printer network database record
event calendar reminder timer photo album map route station bus train ticket license contract budget survey
lesson exam student course book chapter loan policy claim patient sample batch machine robot field garden""".split()
ADJECTIVES = """small large old new fast slow cheap quiet bright dark heavy light warm cold round flat clean empty full early late
soft loud sharp sweet young wide narrow deep""".split()
JOBS = """baker teacher doctor pilot nurse painter farmer lawyer sailor singer writer plumber dentist gardener engineer
carpenter librarian waiter tailor chemist""".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = "January February March April May June July August September October November December".split()
LANGUAGES = "French German Spanish Italian Japanese Chinese Arabic Hindi Dutch Polish Swedish Turkish".split()
# Name and type of a parameter or property; "enum" has its values.
FIELDS = (
    ("name", "string"), ("city", "string"), ("count", "integer"), ("active", "boolean"), ("title", "string"), ("price", "number"),
    ("color", "enum"), ("age", "integer"), ("tags", "strings"), ("email", "string"), ("level", "integer"), ("enabled", "boolean"),
    ("size", "enum"), ("weight", "number"), ("owner", "string"), ("items", "strings"), ("id", "code"), ("limit", "integer"),
    ("date", "date"), ("urgent", "boolean"), ("room", "string"), ("amount", "number"), ("priority", "enum"), ("scores", "integers"),
    ("time", "time"), ("quantity", "integer"), ("public", "boolean"), ("label", "string"), ("unit", "enum"), ("ratio", "number"),
    ("people", "strings"), ("code", "code"), ("year", "integer"), ("visible", "boolean"), ("address", "address"), ("status", "enum"),
    ("speed", "number"), ("language", "string"), ("floor", "integer"), ("shared", "boolean"), ("country", "string"), ("mode", "enum"),
    ("height", "number"), ("numbers", "integers"), ("day", "string"), ("width", "integer"), ("paid", "boolean"), ("query", "text"),
    ("temperature", "number"), ("note", "text"), ("format", "enum"), ("page", "integer"), ("message", "text"), ("recursive", "boolean"),
    ("path", "path"), ("start", "date"), ("end", "date"), ("rating", "integer"), ("category", "string"), ("duration", "integer"),
)  # fmt: skip
ENUMS = {
    "color": ("red", "green", "blue", "black", "white"), "size": ("small", "medium", "large"),
    "priority": ("low", "normal", "high"), "unit": ("meter", "mile", "celsius", "fahrenheit", "kg"),
    "status": ("open", "closed", "pending", "done"), "mode": ("auto", "manual", "eco", "night"),
    "format": ("pdf", "csv", "txt", "png"),
}  # fmt: skip
